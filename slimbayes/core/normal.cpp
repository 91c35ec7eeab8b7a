#include "slimbayes/core/normal.h"

#include <boost/math/special_functions/erf.hpp>
#include <numbers>
#include <string>

#include "slimbayes/core/check.h"

namespace slimbayes {

double normal_quantile(double p) {
  if (!(p > 0 && p < 1)) refuse("normal_quantile", "0 < p < 1", std::to_string(p));
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p);  // 2 p has no rounding error
}

}  // namespace slimbayes
