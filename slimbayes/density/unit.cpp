#include "slimbayes/density/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

/// By default Boost computes in long double, which is several times slower and adds nothing to 1e-12.
/// A quantile beyond the largest double is infinite.
using UnitPolicy =
    boost::math::policies::policy<boost::math::policies::promote_double<false>,
                                  boost::math::policies::overflow_error<boost::math::policies::ignore_error>>;
using StudentT = boost::math::students_t_distribution<double, UnitPolicy>;

void check_dof(double dof, double least, const char* function) {
  if (!(dof > least))
    refuse(function, fmt::format("more than {:g} degrees of freedom", least), fmt::format("{}", dof));
}

}  // namespace

double normal_quantile(double p) {
  if (!(p > 0 && p < 1)) refuse("normal_quantile", "0 < p < 1", std::to_string(p));
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p);  // 2 p has no rounding error
}

double scaled_erfc(double x) {
  constexpr double kFar = 20;  // beyond, the terms below fall under rounding before they rise
  if (x < kFar) return std::exp(x * x) * std::erfc(x);
  double term = 1, sum = 1;
  for (int k = 1; k <= 10; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
  return sum * std::numbers::inv_sqrtpi / x;
}

double log_normal_cdf(double z) {
  if (z > -1) return std::log1p(-0.5 * std::erfc(z / std::numbers::sqrt2));
  return std::log(0.5 * scaled_erfc(-z / std::numbers::sqrt2)) - 0.5 * z * z;
}

double student_log_constant(double dof) {
  if (std::isinf(dof)) return -0.5 * std::log(2 * std::numbers::pi);
  return std::lgamma((dof + 1) / 2) - std::lgamma(dof / 2) - 0.5 * std::log(dof * std::numbers::pi);
}

double student_log_density(double z, double dof) {
  if (std::isinf(dof)) return student_log_constant(dof) - 0.5 * z * z;
  return student_log_constant(dof) - (dof + 1) / 2 * std::log1p(z * z / dof);
}

double student_cdf(double z, double dof) {
  if (std::isinf(dof)) return 0.5 * std::erfc(-z / std::numbers::sqrt2);
  if (std::isfinite(z)) return boost::math::cdf(StudentT(dof), z);
  return std::isnan(z) ? z : z > 0 ? 1 : 0;
}

double student_quantile(double p, double dof) {
  check_dof(dof, 0, "student_quantile");
  if (std::isinf(dof)) return normal_quantile(p);
  if (!(p > 0 && p < 1)) refuse("student_quantile", "0 < p < 1", std::to_string(p));
  return boost::math::quantile(StudentT(dof), p);
}

double student_quantile_at(double z, double dof) {
  if (std::isinf(dof)) return z;
  constexpr double kLeast = 1e-300;
  const double tail = std::max(kLeast, student_cdf(-std::abs(z), std::numeric_limits<double>::infinity()));
  return std::copysign(student_quantile(tail, dof), z);
}

// With the density f and the cdf F of the standard Student-t distribution
//   CRPS(z) = z (2 F(z) - 1) + 2 f(z) (dof + z^2) / (dof - 1)
//             - 2 sqrt(dof) / (dof - 1) B(1/2, dof - 1/2) / B(1/2, dof / 2)^2,
// and for the normal distribution
//   CRPS(z) = z (2 F(z) - 1) + 2 f(z) - 1 / sqrt(pi).
double student_crps_spread(double dof) {
  check_dof(dof, 1, "student_unit_crps");
  if (std::isinf(dof)) return std::numbers::inv_sqrtpi;
  return 2 * std::sqrt(dof) / (dof - 1) * boost::math::beta(0.5, dof - 0.5) /
         std::pow(boost::math::beta(0.5, dof / 2), 2);
}

double student_unit_crps(double z, double dof, double spread) {
  const double density = std::exp(student_log_density(z, dof)), size = std::abs(z);
  if (std::isinf(dof)) return z * std::erf(z / std::numbers::sqrt2) + 2 * density - spread;
  const double between = student_cdf(size, dof) - student_cdf(-size, dof);  // |2 F(z) - 1|
  return size * between + 2 * density * (dof + z * z) / (dof - 1) - spread;
}

double student_unit_crps(double z, double dof) { return student_unit_crps(z, dof, student_crps_spread(dof)); }

}  // namespace slimbayes
