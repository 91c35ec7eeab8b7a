#include "slimbayes/answers/conditional/quantile_bins.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "slimbayes/core/check.h"

namespace slimbayes {

QuantileBins quantile_bins(std::span<const double> numbers, int64_t most, double error) {
  if (most <= 0) refuse("quantile_bins", "most > 0", std::to_string(most));
  QuantileBins bins;
  bins.of.assign(numbers.size(), 0);
  if (numbers.empty()) return bins;
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  bins.ends = {sorted.front()};
  const bool constant = sorted.back() == sorted.front() || sorted.back() - sorted.front() <= error;
  for (int64_t k = 1; k < most && !constant; ++k) {
    const double end = sorted[static_cast<size_t>(k) * sorted.size() / static_cast<size_t>(most)];
    if (end > bins.ends.back()) bins.ends.push_back(end);
  }
  const std::vector<double> inner(bins.ends.begin() + 1, bins.ends.end());
  for (size_t i = 0; i < numbers.size(); ++i)
    bins.of[i] = std::distance(inner.begin(), std::ranges::upper_bound(inner, numbers[i]));
  bins.ends.push_back(sorted.back());
  return bins;
}

}  // namespace slimbayes
