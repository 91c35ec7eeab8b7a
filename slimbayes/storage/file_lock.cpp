// Locks a file by POSIX record locks (fcntl). The kernel releases such a lock when the process ends, and it
// knows the process id of the holder. So the lock file needs no content, and locking works on a full disk.
#include "slimbayes/storage/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

/// Returns the id of the process that holds the lock on an open lock file; 0 if it is unknown, for example
/// because the process runs on another machine.
pid_t holder(int descriptor) {
  struct flock range = whole_file();
  const bool known = ::fcntl(descriptor, F_GETLK, &range) == 0 && range.l_type != F_UNLCK;
  return known ? range.l_pid : 0;
}

bool is_empty(int descriptor) {
  struct stat info {};
  return ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

/// Returns whether the lock file that is open as `descriptor` is still the file at `path`. The process that
/// held the lock before may have removed it after it was opened here; a lock on a removed file excludes
/// nobody.
bool is_still_at(const std::filesystem::path& path, int descriptor) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path) : lock_(written_file(path)) {
  lock_ += ".lock";
  for (;;) {
    descriptor_ = ::open(lock_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor_ < 0)
      throw DataError(lock_.string(),
                      fmt::format("cannot open the file that locks '{}': {}; remove it if no fit is running",
                                  foreign_text(path.string()), std::strerror(errno)));
    if (!is_empty(descriptor_)) {  // a file of another program, such as uv.lock
      ::close(descriptor_);
      throw DataError(lock_.string(),
                      fmt::format("expected an empty file, which locks '{}'; received one with content; name "
                                  "another file",
                                  foreign_text(path.string())));
    }
    struct flock range = whole_file();
    const int result = ::fcntl(descriptor_, F_SETLK, &range);
    const int error = errno;
    held_ = result == 0 && is_still_at(lock_, descriptor_);
    if (held_) return;
    // Any other error means that this file system has no locks.
    if (result != 0 && error != EAGAIN && error != EACCES && error != EINTR) return;
    const pid_t other = result == 0 ? 0 : holder(descriptor_);
    ::close(descriptor_);
    if (result == 0 || error == EINTR) continue;
    throw DataError(
        path.string(),
        fmt::format("expected a file that nobody else is writing; {} is writing it; wait for its end, or "
                    "name another file",
                    other > 0 ? fmt::format("process {}", other) : "another process"));
  }
}

FileLock::~FileLock() {
  if (held_) remove_file(lock_);
  ::close(descriptor_);
}

}  // namespace slimbayes
