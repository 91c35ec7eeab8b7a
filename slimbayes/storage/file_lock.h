#pragma once

#include <filesystem>

namespace slimbayes {

/// One process at a time writes a file: an advisory lock on `path`.lock (of a link: beside the file that it
/// names). It ends with its process, however that ends; the empty lock file that a killed one leaves is taken
/// over by the next. Within one process it excludes nobody.
class FileLock {
 public:
  /// Throws DataError with the process's id where another one holds the lock, and where the lock file cannot
  /// be made. On a file system without locks it holds nothing (`held`).
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
