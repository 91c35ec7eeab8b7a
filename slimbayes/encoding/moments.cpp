// Computes mean and sd from u = (x - middle) / half_range, which lies in [-1, 1], so that squares of values
// such as 1e300 or 1e-300 neither overflow nor underflow. The sd is the population's (divided by n), as in
// the code of the deep basis kernel papers (N and E in docs/references.md).
#include "slimbayes/encoding/moments.h"

#include <algorithm>
#include <cmath>

namespace slimbayes {

Moments moments(const std::vector<double>& values, std::span<const double> weights) {
  if (values.empty()) return {};
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  Moments m{*low, 0, *low, *high / 2 - *low / 2};
  if (!(m.half_range > 0)) return {m.mean, 0, m.middle, 0};
  m.middle = *low / 2 + *high / 2;
  const auto weight = [&](size_t i) { return weights.empty() ? 1 : weights[i]; };
  double n = 0, mean = 0, square = 0;
  for (size_t i = 0; i < values.size(); ++i) n += weight(i);
  for (size_t i = 0; i < values.size(); ++i) mean += weight(i) * ((values[i] - m.middle) / m.half_range) / n;
  for (size_t i = 0; i < values.size(); ++i) {
    double u = (values[i] - m.middle) / m.half_range - mean;
    square += weight(i) * (u * u);
  }
  m.mean = m.middle + m.half_range * mean;
  m.sd = m.half_range * std::sqrt(square / n);
  return m;
}

}  // namespace slimbayes
