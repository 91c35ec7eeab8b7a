#pragma once

#include <vector>

namespace slimbayes {

/// The mean, the population sd (divided by n), the middle of the range and half its length. All are 0 for no
/// values; sd and half_range are 0 if all values are equal.
struct Moments {
  double mean = 0, sd = 0;
  double middle = 0, half_range = 0;  // (max + min) / 2, (max - min) / 2
};
/// Returns the moments of these finite values, computed without overflow.
Moments moments(const std::vector<double>& values);

}  // namespace slimbayes
