#pragma once

#include <span>
#include <vector>

namespace slimbayes {

/// The mean, the population sd (divided by n), the middle of the range and half its length. All are 0 for no
/// values; sd and half_range are 0 if all values are equal.
struct Moments {
  double mean = 0, sd = 0;
  double middle = 0, half_range = 0;  // (max + min) / 2, (max - min) / 2
};
/// Returns the moments of these finite values, computed without overflow. With `weights` [n], each above 0, a
/// value of weight w counts as w equal values: the mean is sum(w x) / sum(w), and so is the variance that of
/// the squared distances from it. Without, each value counts once.
Moments moments(const std::vector<double>& values, std::span<const double> weights = {});

}  // namespace slimbayes
