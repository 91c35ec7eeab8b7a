#include "slimbayes/storage/file_lock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "tests/storage/sample.h"

namespace slimbayes {
namespace {

using trial::Folder;
using trial::message_of;

/// Starts a child process that holds the lock until it is killed. Returns its process id once the lock is
/// held.
pid_t holder_of(const std::filesystem::path& path) {
  int ready[2];
  EXPECT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FileLock lock(path);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);  // the read then ends if the child fails
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  return child;
}

void kill(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(FileLock, NamesTheProcessThatHoldsItAndEndsWithIt) {
  const Folder folder;
  const pid_t child = holder_of(folder / "model");
  const std::string message = message_of([&] { const FileLock lock(folder / "model"); });
  EXPECT_NE(message.find(fmt::format("process {} is writing it", child)), std::string::npos) << message;
  std::filesystem::create_symlink("model", folder / "link");
  EXPECT_THROW(FileLock(folder / "link"), DataError);
  EXPECT_NO_THROW(FileLock(folder / "other"));
  kill(child);
  EXPECT_TRUE(std::filesystem::exists(folder / "model.lock"));
  {
    const FileLock lock(folder / "model");
    EXPECT_TRUE(lock.held());
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "model.lock"));
}

TEST(FileLock, LeavesNothingWhereAnotherHoldsIt) {
  const Folder folder;
  const pid_t child = holder_of(folder / "model");
  EXPECT_THROW(FileLock(folder / "model"), DataError);
  EXPECT_TRUE(std::filesystem::exists(folder / "model.lock"));  // the holder's file stays
  kill(child);
}

TEST(FileLock, TheFileOfAnotherToolIsRefusedAndStays) {
  const Folder folder;
  write_atomically(folder / "uv.lock", trial::raw("content"));
  EXPECT_NE(message_of([&] { const FileLock lock(folder / "uv"); }).find("expected an empty file"),
            std::string::npos);
  EXPECT_EQ(read_bytes(folder / "uv.lock"), trial::raw("content"));
}

TEST(FileLock, AFolderThatIsNotThereIsADataError) {
  const Folder folder;
  EXPECT_THROW(FileLock(folder / "absent" / "model"), DataError);
}

}  // namespace
}  // namespace slimbayes
