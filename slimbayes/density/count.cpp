#include "slimbayes/density/count.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "slimbayes/density/unit.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

constexpr int kSteps = 240;       // steps of the trapezoid rule over a gamma variable
constexpr double kTail = 38;      // a factor e^-38 is below rounding
constexpr double kSds = 9;        // a Gaussian beyond 9 sds is below rounding
constexpr double kLogLarge = 30;  // log of the largest quantile that is made whole

/// E_z[Q(k + 1, e^(m + s z))], for a small s.
double cdf_over_rates(double m, double s, double k) {
  double sum = 0, weights = 0;
  for (double z = -kSds; z <= kSds; z += 0.5) {
    const double weight = std::exp(-0.5 * z * z), rate = std::exp(m + s * z);
    sum += weight * (std::isfinite(rate) ? boost::math::gamma_q(k + 1, rate, InDouble()) : 0);
    weights += weight;
  }
  return sum / weights;
}

/// E_u[Phi((u - m) / s)] over u, the log of a Gamma(k + 1) variable.
double cdf_over_gammas(double m, double s, double k) {
  const double a = k + 1, sd = 1 / std::sqrt(a);
  const double left = kTail / a + kSds * sd, right = std::min(kSds * sd, 4.0);
  double sum = 0, densities = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double shift = (left + right) * (static_cast<double>(i) / kSteps) - left;  // u - log a
    const double density = std::exp(a * (shift - std::expm1(shift))), z = (std::log(a) - m + shift) / s;
    sum += density * std::erfc(-z / std::numbers::sqrt2);
    densities += density;
  }
  return sum / (2 * densities);
}

}  // namespace

double LogRate::rate_mean() const { return std::exp(mean + 0.5 * var); }

double LogRate::rate_var() const {
  const double centre = rate_mean();
  return centre * centre * std::expm1(var);
}

double count_cdf(const LogRate& rate, double k) {
  if (k < 0) return 0;
  const double s = std::sqrt(rate.var);
  // At 0.35 both rules are accurate: their steps are below half the width of their narrowest feature.
  return s * std::sqrt(k + 1) > 0.35 ? cdf_over_gammas(rate.mean, s, k) : cdf_over_rates(rate.mean, s, k);
}

double count_quantile(const LogRate& rate, double p) {
  if (!(p > 0 && p < 1)) refuse("count_quantile", "0 < p < 1", std::to_string(p));
  if (!(std::isfinite(rate.mean) && std::isfinite(rate.var))) return std::numeric_limits<double>::quiet_NaN();
  p = std::min(p, 1 - 1e-13);  // the cdf is a sum of rounded terms, which may stay below a p next to 1
  const double log_quantile = rate.mean + normal_quantile(p) * std::sqrt(rate.var);
  if (log_quantile > kLogLarge) return std::exp(log_quantile);
  double low = -1, high = 0;
  while (count_cdf(rate, high) < p) {
    low = high;
    high = 2 * high + 1;
  }
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (count_cdf(rate, middle) < p ? low : high) = middle;
  }
  return high;
}

}  // namespace slimbayes
