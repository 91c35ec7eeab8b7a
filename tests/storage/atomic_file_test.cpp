#include "slimbayes/storage/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "slimbayes/storage/error.h"
#include "tests/storage/sample.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;
using trial::Folder;
using trial::message_of;
using trial::raw;

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(WriteAtomically, ReplacesTheWholeFileAndLeavesNothingElse) {
  const Folder folder;
  const auto path = folder / "model.safetensors";
  write_atomically(path, raw("a long first content"));
  write_atomically(path, raw("second"));
  EXPECT_EQ(read_bytes(path), raw("second"));
  write_atomically(path, {});
  EXPECT_TRUE(read_bytes(path).empty());
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(WriteAtomically, ModeIs0644LessTheUmask) {
  const Folder folder;
  const mode_t before = ::umask(0022);
  write_atomically(folder / "open", raw("x"));
  ::umask(0077);
  write_atomically(folder / "closed", raw("x"));
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat((folder / "open").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0644U);
  ASSERT_EQ(::stat((folder / "closed").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST(WriteAtomically, ALinkStaysALinkAndItsTargetIsReplaced) {
  const Folder folder;
  fs::create_directory(folder / "real");
  write_atomically(folder / "real/model", raw("old"));
  fs::create_symlink("real/model", folder / "link");
  write_atomically(folder / "link", raw("new"));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_bytes(folder / "real/model"), raw("new"));
  EXPECT_EQ(entries(folder.path()), 2U);
}

// In a folder such as /tmp another user could place a link on a name that this one will write.
TEST(WriteAtomically, InASharedFolderOnlyOnesOwnLinksAreFollowed) {
  const Folder folder;
  write_atomically(folder / "precious", raw("old"));
  fs::create_directory(folder / "shared");
  ASSERT_EQ(::chmod((folder / "shared").c_str(), 01777), 0);
  fs::create_symlink("../precious", folder / "shared/link");
  write_atomically(folder / "shared/link", raw("own"));
  EXPECT_EQ(read_bytes(folder / "precious"), raw("own"));
  constexpr uid_t kAnother = 65534, kOwner = 65533;
  if (::geteuid() != 0) return;  // only root can make the files of other users
  ASSERT_EQ(::lchown((folder / "shared").c_str(), kOwner, kOwner), 0);
  ASSERT_EQ(::lchown((folder / "shared/link").c_str(), kAnother, kAnother), 0);
  EXPECT_NE(message_of([&] { check_writable(folder / "shared/link"); }).find("received another user's"),
            std::string::npos);
  EXPECT_THROW(write_atomically(folder / "shared/link", raw("new")), DataError);
  EXPECT_EQ(read_bytes(folder / "precious"), raw("own"));
  ASSERT_EQ(::lchown((folder / "shared/link").c_str(), kOwner, kOwner), 0);  // of the folder's owner
  write_atomically(folder / "shared/link", raw("new"));
  EXPECT_EQ(read_bytes(folder / "precious"), raw("new"));
}

// Nobody may replace the file of another user there. A child process asks without root's rights.
TEST(CheckWritable, RefusesTheFileOfAnotherUserInASharedFolder) {
  const Folder folder;
  constexpr uid_t kAnother = 65534;
  if (::geteuid() != 0) return;  // only root can become another user
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  fs::create_directory(folder / "shared");
  ASSERT_EQ(::chmod((folder / "shared").c_str(), 01777), 0);
  write_atomically(folder / "shared/model", raw("old"));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool other = ::setuid(kAnother) == 0;
    const std::string asked = message_of([&] { check_writable(folder / "shared/model"); });
    const std::string written = message_of([&] { write_atomically(folder / "shared/model", raw("new")); });
    check_writable(folder / "shared/new");
    ::_exit(other && asked == written && asked.find("not permitted") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_bytes(folder / "shared/model"), raw("old"));
}

TEST(WriteAtomically, AFailureKeepsTheOldFileAndRemovesTheTemporary) {
  const Folder folder;
  const auto path = folder / "model";
  write_atomically(path, raw("old"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{4096, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const std::string message = message_of([&] { write_atomically(path, std::vector<std::byte>(10000)); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("cannot write: File too large; raise the limit on a file's size"), std::string::npos)
      << message;
  EXPECT_EQ(read_bytes(path), raw("old"));
  EXPECT_EQ(entries(folder.path()), 1U);
}

// A killed process with the same process id may have left temporary files.
TEST(WriteAtomically, LeftoversOfAnotherProcessAreNeitherUsedNorTouched) {
  const Folder folder;
  for (int count = 0; count < 1000; ++count) {
    std::ofstream(folder / fmt::format(".slimbayes-{}-{}.tmp", ::getpid(), count)) << "left";
  }
  write_atomically(folder / "model", raw("x"));
  EXPECT_EQ(read_bytes(folder / "model"), raw("x"));
  EXPECT_EQ(entries(folder.path()), 1001U);
}

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

TEST(WriteAtomically, AReplacedFileKeepsItsMode) {
  const Folder folder;
  for (const mode_t mode : {0600, 0640, 0664, 0460}) {
    write_atomically(folder / "model", raw("old"));
    ASSERT_EQ(::chmod((folder / "model").c_str(), mode), 0);
    write_atomically(folder / "model", raw("new"));
    EXPECT_EQ(mode_of(folder / "model"), mode);
    fs::remove(folder / "model");
  }
}

TEST(WrittenFile, FollowsAChainOfLinksToAFileThatNeedNotExist) {
  const Folder folder;
  fs::create_directory(folder / "sub");
  fs::create_symlink("sub/second", folder / "first");
  fs::create_symlink(folder / "model", folder / "sub/second");
  EXPECT_EQ(written_file(folder / "first"), folder / "model");
  write_atomically(folder / "first", raw("x"));
  EXPECT_EQ(read_bytes(folder / "model"), raw("x"));
  EXPECT_TRUE(fs::is_symlink(folder / "sub/second"));
}

TEST(RemoveFile, LeavesFolders) {
  const Folder folder;
  fs::create_directory(folder / "empty");
  write_atomically(folder / "file", raw("x"));
  remove_file(folder / "empty");
  remove_file(folder / "file");
  remove_file(folder / "absent");
  EXPECT_EQ(entries(folder.path()), 1U);
}

// A child writes the contents a and b in turn until it is killed. The file must hold one of them at any
// moment.
TEST(WriteAtomically, AKillLeavesTheOldFileOrTheNewOne) {
  const Folder folder;
  const auto path = folder / "model";
  const std::vector<std::byte> a(200000, std::byte{'a'}), b(300000, std::byte{'b'});
  write_atomically(path, a);
  for (int round = 0; round < 25; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        write_atomically(path, b);
        write_atomically(path, a);
      }
    }
    ::usleep(static_cast<useconds_t>(500 + 397 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto bytes = read_bytes(path);
    ASSERT_TRUE(bytes == a || bytes == b) << "round " << round << ", " << bytes.size() << " bytes";
  }
}

// check_writable and write_atomically refuse each bad path with the same reason and leave nothing behind.
TEST(CheckWritable, RefusesWhatCannotBeWritten) {
  const Folder folder;
  write_atomically(folder / "file", raw("x"));
  fs::create_directory(folder / "sub");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink("loop", folder / "loop");
  const std::vector<std::pair<fs::path, std::string>> bad{
      {folder / "missing/model", "No such file or directory; check the path"},
      {folder / "sub", "received a folder"},
      {folder / "sub/", "received a folder"},
      {"", "received a folder or nothing"},
      {folder / "file/model", "Not a directory"},
      {folder / "pipe", "received a device, pipe or socket"},
      {"/dev/null", "received a device, pipe or socket"},
      {"/proc/model", "cannot write in the folder '/proc'"},
      {folder / "loop", "symbolic links"},
      {folder / std::string(300, 'x'), "File name too long"}};
  for (const auto& [path, reason] : bad) {
    const std::string asked = message_of([&] { check_writable(path); });
    const std::string written = message_of([&] { write_atomically(path, raw("y")); });
    EXPECT_NE(asked.find(reason), std::string::npos) << asked;
    EXPECT_EQ(asked, written);
    EXPECT_THROW(check_writable(path), DataError);
  }
  EXPECT_EQ(entries(folder.path()), 4U);
  EXPECT_EQ(entries(folder / "sub"), 0U);
}

TEST(CheckWritable, TouchesNothingWhenAllIsWell) {
  const Folder folder;
  check_writable(folder / "new");
  EXPECT_EQ(entries(folder.path()), 0U);
  write_atomically(folder / "old", raw("content"));
  check_writable(folder / "old");
  EXPECT_EQ(read_bytes(folder / "old"), raw("content"));
  const auto here = fs::current_path();
  fs::current_path(folder.path());
  EXPECT_NO_THROW(check_writable("plain-name"));
  EXPECT_NO_THROW(write_atomically("plain-name", raw("x")));
  fs::current_path(here);
  EXPECT_EQ(entries(folder.path()), 2U);
}

// The temporary file of a killed writer is removed. The file of a running writer and other files stay.
TEST(CheckWritable, RemovesTheTemporariesOfKilledWriters) {
  const Folder folder;
  std::ofstream(folder / ".slimbayes-1-0.tmp") << "left";
  std::ofstream(folder / ".slimbayes-2-0.tmp") << "left";
  std::ofstream(folder / ".slimbayes-notes") << "mine";
  const int running = ::open((folder / ".slimbayes-2-0.tmp").c_str(), O_WRONLY);
  ASSERT_EQ(::flock(running, LOCK_EX), 0);
  check_writable(folder / "model");
  EXPECT_FALSE(fs::exists(folder / ".slimbayes-1-0.tmp"));
  EXPECT_TRUE(fs::exists(folder / ".slimbayes-2-0.tmp"));
  EXPECT_EQ(entries(folder.path()), 2U);
  ::close(running);
}

TEST(ReadBytes, RefusesWhatIsNotARegularFile) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(read_bytes(folder / "pipe"), DataError);
  EXPECT_THROW(read_bytes(folder.path()), DataError);
  EXPECT_THROW(read_bytes("/dev/zero"), DataError);
  const std::string message = message_of([&] { read_bytes(folder / "missing"); });
  EXPECT_EQ(message,
            (folder / "missing").string() + ": cannot open: No such file or directory; check the path");
}

TEST(ReadBytes, AFileBeyondTheMemoryIsADataError) {
  const Folder folder;
  write_atomically(folder / "sparse", {});
  fs::resize_file(folder / "sparse", uintmax_t{1} << 43);
  const std::string message = message_of([&] { read_bytes(folder / "sparse"); });
  EXPECT_NE(message.find("expected a file that fits in memory; received 8796093022208 bytes"),
            std::string::npos)
      << message;
}

// Also root, whom the kernel lets write it, must not replace it.
TEST(AtomicFile, AReadOnlyFileIsNotReplaced) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(testing::TempDir()) / ("read_only" + std::to_string(::getpid()));
  const std::byte one[] = {std::byte{1}};
  write_atomically(path, one);
  fs::permissions(path, fs::perms(0444));
  EXPECT_THROW(check_writable(path), DataError);
  EXPECT_THROW(write_atomically(path, std::span<const std::byte>{}), DataError);
  EXPECT_EQ(fs::file_size(path), 1u);
  fs::permissions(path, fs::perms(0644));
  EXPECT_NO_THROW(check_writable(path));
  EXPECT_NO_THROW(write_atomically(path, std::span<const std::byte>{}));
  fs::remove(path);
}

}  // namespace
}  // namespace slimbayes
