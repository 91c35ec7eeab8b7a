#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace slimbayes {

/// The means of a target over blocks of neighbouring rows (RowCache::kBlock), of which several are shuffled
/// together. Where neighbouring rows are alike, as in a table sorted by its target, the rows of few blocks
/// are unlike the whole table, and batches of them train worse.
class BlockMeans {
 public:
  /// Adds the targets of further rows, [n] or [n, 1]: numbers, or indices of classes.
  void add(const at::Tensor& target);

  /// Returns the sd of the target's mean over `window` rows that are shuffled together, as a share of the sd
  /// of the target. 0 where the window holds all blocks.
  double spread(int64_t window) const;

  /// Returns a note if that spread is large, else "".
  std::string note(int64_t window) const;

 private:
  std::vector<double> means_;  // of whole blocks
  double block_sum_ = 0;       // of the block that is not full yet
  double first_ = 0;           // a target, which is subtracted from all
  double sum_ = 0, squares_ = 0;
  int64_t rows_ = 0;
};

}  // namespace slimbayes
