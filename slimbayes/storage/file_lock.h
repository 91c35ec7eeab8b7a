#pragma once

#include <filesystem>

namespace slimbayes {

/// An advisory lock that keeps two processes from writing `path` at the same time. It locks the empty file
/// `path`.lock; if `path` is a link, the lock file lies in the folder of the file that it names. The kernel
/// releases the lock when the process ends, even if it is killed; the next process reuses the lock file that
/// is left. The lock does not exclude other threads or FileLocks of the same process.
class FileLock {
 public:
  /// Throws DataError if another process holds the lock (the message gives its id where it is known), if the
  /// lock file cannot be opened, or if it has content. On a file system without locks the constructor
  /// succeeds and held() is false.
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
