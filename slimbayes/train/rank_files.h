#pragma once

#include <filesystem>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/storage/tensor_header.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// The files of a fit by several processes, which rank 0 alone reads and writes: the others may run on
/// machines that do not see them. Every rank learns what a file holds. `ranks` is nullptr for one process.
/// Rank 0 throws DataError where a file cannot be read or written; the others then learn that it has ended.
class RankFiles {
 public:
  explicit RankFiles(const Collective* ranks) : ranks_(ranks) {}

  /// Returns whether this process writes the files.
  bool writes() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  bool exists(const std::filesystem::path& path) const;
  TensorFile read(const std::filesystem::path& path) const;
  TensorHeader read_header(const std::filesystem::path& path) const;

 private:
  const Collective* ranks_;
};

}  // namespace slimbayes
