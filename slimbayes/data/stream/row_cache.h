#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "slimbayes/data/source.h"

namespace slimbayes {

/// Encoded rows on disk, for tables that do not fit into memory: one file for each tensor of a batch, without
/// names in their folder, so that the system removes them when this process ends, however it ends.
class RowCache {
 public:
  /// The number of rows that are read together.
  static constexpr int64_t kBlock = 4096;

  /// Creates the files in this folder, which must exist, for about `rows` rows of `row_bytes` bytes. Throws
  /// DataError if the folder cannot be written or its disk has not so much room.
  RowCache(const std::filesystem::path& folder, int64_t rows, int64_t row_bytes);
  ~RowCache();
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;

  /// Appends the rows of a batch without a mask. All batches must have the same tensors but for the number of
  /// rows. Throws DataError if the disk is full.
  void add(const Batch& rows);

  int64_t size() const;  // number of rows so far

  /// Returns the rows as a source, which owns the files. It keeps about two times `window` rows in memory.
  /// No more rows can be added. Where several processes have a part of the rows each, `rows_of` has the
  /// number of rows of each of them, and `own` is the place of this one. Empty: these are all rows.
  std::shared_ptr<const Source> source(int64_t window, const std::vector<int64_t>& rows_of = {},
                                       int64_t own = 0);

 private:
  class Files;
  class Cached;
  std::shared_ptr<Files> files_;
};

}  // namespace slimbayes
