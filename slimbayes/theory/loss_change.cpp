#include "slimbayes/theory/loss_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

}  // namespace

LossSlope absolute_slope(int64_t outputs) {
  return {std::sqrt(static_cast<double>(outputs)), kUnbounded, kUnbounded};
}

LossSlope half_square_slope(double gradient) { return {kUnbounded, gradient, 1}; }

LossSlope cross_entropy_slope(double gradient, bool one_logit) {
  return one_logit ? LossSlope{1, gradient, 0.25} : LossSlope{std::numbers::sqrt2, gradient, 0.5};
}

double loss_change(const LossSlope& slope, double change) {
  if (!(change >= 0)) refuse("loss_change", "a change of at least 0", fmt::format("{}", change));
  if (change == 0) return 0;  // infinity times 0 is no number
  return std::min(slope.lipschitz * change, slope.gradient * change + slope.smoothness / 2 * change * change);
}

}  // namespace slimbayes
