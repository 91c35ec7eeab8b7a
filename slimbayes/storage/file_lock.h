#pragma once

#include <filesystem>

#include "slimbayes/export.h"

namespace slimbayes {

/// An advisory lock that keeps two processes from writing `path` at the same time. It creates the empty file
/// `path`.lock, locks it, and removes it at the end; if `path` is a symbolic link, the lock file lies beside
/// the file that the link names. The kernel releases the lock when the process ends, even if it is killed;
/// the lock file then stays and the next process uses it. The lock does not exclude other threads or
/// FileLocks of the same process.
class SLIMBAYES_EXPORT FileLock {
 public:
  /// Takes the lock, without waiting. Throws DataError if another process holds it (the message gives the
  /// process id where it is known), if the lock file cannot be opened, or if it has content and so belongs to
  /// another program. On a file system that has no locks the constructor succeeds and held() is false.
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return held_; }

 private:
  std::filesystem::path lock_;
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace slimbayes
