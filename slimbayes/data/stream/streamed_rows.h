#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/data/input_encoder.h"
#include "slimbayes/data/source.h"
#include "slimbayes/data/stream/row_cache.h"
#include "slimbayes/data/stream/streamed_table.h"
#include "slimbayes/data/table/table_stream.h"

namespace slimbayes {

/// Where the encoded training rows of a streamed table are kept, and how many are shuffled together.
struct CacheOptions {
  std::filesystem::path folder;
  int64_t window = int64_t{1} << 18;
};

/// The training rows of a table that need not fit into memory: read once for statistics and parts, and once
/// more to encode them.
class StreamedRows {
 public:
  using Progress = std::function<void(double share)>;  // of the files that is read; may be empty

  /// `table` is the result of a first pass over `stream`, whose next pass is over the same rows; `in_parts`
  /// says that these are a share of the rows, of which other processes have the rest
  /// (TableStream::read_share).
  StreamedRows(TableStream stream, StreamedTable table, std::string target, CacheOptions cache,
               bool in_parts = false);

  const StreamedTable& table() const { return table_; }

  /// Returns how many rows are shuffled together.
  int64_t window() const { return std::max(cache_.window, RowCache::kBlock); }

  /// Returns whether this process reads a share of the rows, and other processes the rest.
  bool in_parts() const { return in_parts_; }

  /// Makes the second pass: returns the encoded training rows with their targets, on disk; all of them if
  /// `whole`, else those of the share that this process reads. Throws DataError as TableStream::next(),
  /// RowCache and dataset_of(). Appends a note to `notes` (may be nullptr) if the rows that are shuffled
  /// together are unlike the table.
  std::unique_ptr<RowCache> encoded(const InputEncoder& encoder, bool whole, const Progress& progress = {},
                                    std::vector<std::string>* notes = nullptr) const;

 private:
  std::unique_ptr<TableStream> stream_;
  StreamedTable table_;
  std::string target_;
  CacheOptions cache_;
  bool in_parts_;
};

}  // namespace slimbayes
