#include "slimbayes/data/stream/block_means.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/data/stream/row_cache.h"

namespace slimbayes {

void BlockMeans::add(const at::Tensor& target) {
  const at::Tensor numbers = target.to(at::kDouble).contiguous();
  internal_check(numbers.dim() > 0 && numbers.numel() == numbers.size(0), "BlockMeans", "one target a row");
  const auto* y = numbers.const_data_ptr<double>();
  if (rows_ == 0 && numbers.numel() > 0) first_ = y[0];
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    const double value = y[i] - first_;
    sum_ += value;
    squares_ += value * value;
    block_sum_ += value;
    if (++rows_ % RowCache::kBlock != 0) continue;
    means_.push_back(block_sum_ / static_cast<double>(RowCache::kBlock));
    block_sum_ = 0;
  }
}

double BlockMeans::spread(int64_t window) const {
  const auto blocks = static_cast<double>(means_.size()), rows = static_cast<double>(rows_);
  const auto together = static_cast<double>(std::max<int64_t>(1, window / RowCache::kBlock));
  if (blocks < 2 || together >= blocks) return 0;
  const double var = squares_ / rows - (sum_ / rows) * (sum_ / rows);
  double mean = 0, between = 0;
  for (const double x : means_) mean += x / blocks;
  for (const double x : means_) between += (x - mean) * (x - mean) / (blocks - 1);
  // A window's blocks are drawn without replacement.
  return var > 0 ? std::sqrt(between / var / together * (1 - together / blocks)) : 0;
}

std::string BlockMeans::note(int64_t window) const {
  constexpr double kLarge = 0.1;  // by chance it is about 1 / sqrt(window), at most 0.016
  const double own = spread(window);
  if (own < kLarge) return "";
  return fmt::format(
      "neighbouring rows have like targets: the mean of the {} rows that are shuffled together varies by "
      "{:.2g} "
      "sd of the target, so that batches are unlike the table; raise `.shuffle_rows` as far as the memory "
      "allows, or shuffle the rows of the files before",
      window, own);
}

}  // namespace slimbayes
