#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slimbayes {

/// Numbers cut into bins of about equal numbers of them.
struct QuantileBins {
  /// The k + 1 ends of k bins, ascending. Bin i holds the numbers from ends[i] on and below ends[i + 1], the
  /// last bin its upper end, too. Without numbers there is no bin and no end.
  std::vector<double> ends;
  std::vector<int64_t> of;  // [n] the bin of each number

  int64_t count() const { return ends.empty() ? 0 : static_cast<int64_t>(ends.size()) - 1; }
};

/// Returns n numbers, which are not NaN, in at most `most` bins of about n / most numbers. Equal numbers
/// share a bin, so that there may be fewer bins, of unequal size; numbers that are all equal are one bin.
/// Numbers that lie within `error` of each other are taken for equal if all of them do. Throws
/// std::invalid_argument unless most > 0.
QuantileBins quantile_bins(std::span<const double> numbers, int64_t most, double error = 0);

}  // namespace slimbayes
