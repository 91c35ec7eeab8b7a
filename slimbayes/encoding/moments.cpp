// Computes mean and sd from u = (x - middle) / half_range, which lies in [-1, 1], so that squares of values
// such as 1e300 or 1e-300 neither overflow nor underflow. The sd is the population's (divided by n), as in
// the code of the deep basis kernel papers (N and E in docs/references.md).
#include "slimbayes/encoding/moments.h"

#include <algorithm>
#include <cmath>

namespace slimbayes {

Moments moments(const std::vector<double>& values) {
  if (values.empty()) return {};
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  Moments m{*low, 0, *low, *high / 2 - *low / 2};
  if (!(m.half_range > 0)) return {m.mean, 0, m.middle, 0};
  m.middle = *low / 2 + *high / 2;
  double n = static_cast<double>(values.size()), mean = 0, square = 0;
  for (double value : values) mean += (value - m.middle) / m.half_range / n;
  for (double value : values) {
    double u = (value - m.middle) / m.half_range - mean;
    square += u * u;
  }
  m.mean = m.middle + m.half_range * mean;
  m.sd = m.half_range * std::sqrt(square / n);
  return m;
}

}  // namespace slimbayes
