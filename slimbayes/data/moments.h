#pragma once

#include <vector>

namespace slimbayes {

/// Mean and population sd (divided by n), computed without overflow. All are 0 for no values; sd and
/// half_range are 0 when all values are equal.
struct Moments {
  double mean = 0, sd = 0;
  double middle = 0, half_range = 0;  // (max + min) / 2, (max - min) / 2
};
Moments moments(const std::vector<double>& values);

}  // namespace slimbayes
