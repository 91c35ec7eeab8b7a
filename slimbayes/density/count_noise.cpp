// Probabilities of a count with more noise than Poisson's. Zeros in excess are a mixture with the point 0 and
// need no integral. What is below is the negative binomial with the dispersion a = 1 / r, whose mean is e^f,
// f = m + s z, z ~ N(0, 1). As in answers/count_distribution.cpp the trapezoid rule is used on integrands
// that are analytic and vanish at both ends (Trefethen and Weideman, SIAM Review 2014).
//
// log P(y): up to a constant the log of the integrand is h(z) = y f - (y + r) log(1 + a e^f) - z^2 / 2, which
// is concave. Its mode lies between 0 and (log y - m) / s, where the probability alone is largest, and within
// (-s r, s y), because h' = s (y - (y + r) a e^f / (1 + a e^f)) - z. The range of the nodes ends where h has
// fallen by 40.
//
// P(y <= k) = E_z[I(r, k + 1; 1 / (1 + a e^f))] with the regularised incomplete beta function I. As a
// function of f it falls from 1 to 0 over a width of sqrt(1 / r + 1 / (k + 1)), at most 1. If s is much
// wider, the integral is taken over a beta-prime variable W of the shapes k + 1 and r instead: I is P(a e^f <
// W), so that P(y <= k) = E_W[Phi((log W - log a - m) / s)], which needs no beta function. The form that is
// cheaper is taken.

#include "slimbayes/density/count_noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

namespace policies = boost::math::policies;
using InDoubles =
    policies::policy<policies::promote_double<false>, policies::evaluation_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>>;

constexpr int kNodes = 400;           // steps of the trapezoid rule of log P
constexpr double kFall = 40;          // a factor e^-40 is below rounding
constexpr double kGaussianReach = 9;  // a Gaussian beyond 9 sds is below rounding
constexpr double kBetaCost = 12;      // the time of a beta function, in those of a node of the other form
constexpr double kLeastDispersion = 1e-290;  // in place of 0, where it has the same limit
constexpr double kNearlyPoisson = 1e-10;     // of the dispersion times the count

void check_noise(const CountNoise& noise, const char* function) {
  if (!(noise.dispersion >= 0 && std::isfinite(noise.dispersion)))
    refuse(function, "a finite dispersion >= 0", fmt::format("{}", noise.dispersion));
  if (!(noise.zero_share >= 0 && noise.zero_share < 1))
    refuse(function, "a share of zeros of at least 0 and below 1", fmt::format("{}", noise.zero_share));
}

/// log(1 + a e^f), also where a e^f overflows.
double log_one_plus(double a, double f) {
  return f < 600 ? std::log1p(a * std::exp(f))
                 : std::max(0.0, f + std::log(a)) + std::log1p(std::exp(-std::abs(f + std::log(a))));
}

/// The remainder of Stirling's formula, log Gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2, for x >= 16.
double stirling_rest(double x) {
  const double u = 1 / (x * x);
  return (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / x;
}

/// Returns the distance from `mode` at which the concave function h has fallen by kFall, to the right of it
/// (direction 1) or to the left (-1). `least` and `most` are bounds of the distance; it is right to 1 %.
template <class H>
double reach(const H& h, double mode, double direction, double least, double most) {
  const double enough = h(mode) - kFall;
  while (most > 1.01 * least) {
    const double middle = std::sqrt(least * most);
    (h(mode + direction * middle) > enough ? least : most) = middle;
  }
  return most;
}

/// h of log P(y), without the factors that do not depend on z.
struct LogJoint {
  double m, s, a, y;

  double shape() const { return y + 1 / a; }
  double operator()(double z) const {
    const double f = m + s * z;
    return y * f - shape() * log_one_plus(a, f) - 0.5 * z * z;
  }
  double slope(double z) const { return s * (y - shape() * share(z)) - z; }
  double curvature(double z) const { return -s * s * shape() * share(z) * (1 - share(z)) - 1; }
  double share(double z) const {  // a e^f / (1 + a e^f)
    const double size = a * std::exp(std::min(m + s * z, 600.0));
    return size / (1 + size);
  }
};

/// Returns the mode of h: Newton's method, with a bisection where it would leave the bracket.
double mode_of(const LogJoint& h) {
  const double best = h.s > 0 ? (std::log(std::max(h.y, 1e-300)) - h.m) / h.s : 0;
  double low = std::max(std::min(best, 0.0), -h.s / h.a), high = std::min(std::max(best, 0.0), h.s * h.y);
  double z = std::min(high, std::max(low, 0.0));
  for (int i = 0; i < 400 && high - low > 1e-12 * (1 + std::abs(z)); ++i) {
    const double slope = h.slope(z);
    (slope > 0 ? low : high) = z;
    const double next = z - slope / h.curvature(z);
    if (std::abs(next - z) < 1e-12 * (1 + std::abs(z))) break;
    z = next > low && next < high ? next : 0.5 * (low + high);
  }
  return z;
}

double log_prob_of(const LogRate& rate, double a, double y) {
  const LogJoint h{rate.mean, std::sqrt(rate.var), a, y};
  const double mode = mode_of(h);
  // -h'' lies between 1 and 1 + s^2 (y + r) / 4.
  const double least = kGaussianReach / std::sqrt(1 + 0.25 * h.s * h.s * h.shape());
  const double left = reach(h, mode, -1, least, kGaussianReach),
               right = reach(h, mode, 1, least, kGaussianReach);
  const double top = h(mode), step = (left + right) / kNodes;
  double sum = 0;
  for (int i = 0; i <= kNodes; ++i) sum += std::exp(h(mode - left + i * step) - top);
  return top + std::log(sum * step / std::sqrt(2 * std::numbers::pi)) + log_rising_factor(y, a);
}

/// E_z[I(r, k + 1; 1 / (1 + a e^f))] by a step of at most `step` in z.
double cdf_over_z(const LogRate& rate, double a, double k, double step) {
  const int each = static_cast<int>(std::ceil(kGaussianReach / step));
  const double s = std::sqrt(rate.var);
  double sum = 0, weights = 0;
  for (int i = -each; i <= each; ++i) {
    const double z = kGaussianReach * i / each, weight = std::exp(-0.5 * z * z), f = rate.mean + s * z;
    const double odds = a * std::exp(std::min(f, 600.0)), share = odds / (1 + odds);
    sum += weight * (share < 0.5 ? boost::math::ibetac(k + 1, 1 / a, share, InDoubles())
                                 : boost::math::ibeta(1 / a, k + 1, 1 / (1 + odds), InDoubles()));
    weights += weight;
  }
  return sum / weights;
}

/// The log density of t = log W - log((k + 1) a) up to a constant; its mode is 0.
struct LogBetaPrime {
  double first, second;  // the shapes k + 1 and r

  double operator()(double t) const {
    const double share = first / (first + second);
    return -first * std::log1p((1 - share) * std::expm1(-t)) - second * std::log1p(share * std::expm1(t));
  }
  double sd() const { return std::sqrt(1 / first + 1 / second); }  // that of its curvature at the mode
};

struct Distances {
  double left, right;
};

Distances range_of(const LogBetaPrime& h) {
  const double least = std::min(h.sd(), 1.0);
  const auto most = [&](double shape) { return kFall / shape + 10 * h.sd() + 10; };
  return {reach(h, 0, -1, least, most(h.first)), reach(h, 0, 1, least, most(h.second))};
}

double cdf_over_w(const LogRate& rate, double a, const LogBetaPrime& h, const Distances& range,
                  int64_t nodes) {
  const double s = std::sqrt(rate.var), centre = std::log(h.first) - rate.mean;  // log(A / r) - log a - m
  const double step = (range.left + range.right) / static_cast<double>(nodes);
  double sum = 0, densities = 0;
  for (int64_t i = 0; i <= nodes; ++i) {
    const double t = static_cast<double>(i) * step - range.left, density = std::exp(h(t));
    sum += density * std::erfc(-(centre + t) / (s * std::numbers::sqrt2));
    densities += density;
  }
  return sum / (2 * densities);
}

double cdf_of(const LogRate& rate, double a, double k) {
  const double s = std::sqrt(rate.var);
  if (a * (k + 1 + std::exp(rate.mean + kGaussianReach * s)) < kNearlyPoisson) return count_cdf(rate, k);
  const LogBetaPrime h{k + 1, 1 / a};
  const double width = std::min(h.sd(), 1.0), step_in_z = s > 0 ? std::min(0.5, 0.5 * width / s) : 0.5;
  if (s < 0.5 * width) return cdf_over_z(rate, a, k, step_in_z);
  const Distances range = range_of(h);
  const double nodes = std::ceil((range.left + range.right) / (0.25 * std::min(width, s)));
  if (nodes > kBetaCost * 2 * kGaussianReach / step_in_z) return cdf_over_z(rate, a, k, step_in_z);
  return cdf_over_w(rate, a, h, range, static_cast<int64_t>(nodes));
}

double whole_quantile(const LogRate& rate, double a, double p) {
  constexpr double kMost = 1e300;
  double low = -1, high = 0;
  while (cdf_of(rate, a, high) < p) {
    low = high;
    high = 2 * high + 1;
    if (high > kMost) return std::numeric_limits<double>::infinity();
  }
  while (high - low > std::max(1.0, 1e-13 * high)) {
    const double middle = std::floor(low + (high - low) / 2);
    (cdf_of(rate, a, middle) < p ? low : high) = middle;
  }
  return high;
}

}  // namespace

double log_rising_factor(double y, double dispersion) {
  constexpr double kLarge = 16;
  const double r = 1 / std::max(dispersion, kLeastDispersion);
  const double own = boost::math::lgamma(y + 1, InDoubles());
  // The logs of the gamma functions of a large r are nearly equal: their difference by Stirling's formula.
  if (r >= kLarge)
    return (y + r - 0.5) * std::log1p(y / r) - y + stirling_rest(y + r) - stirling_rest(r) - own;
  return boost::math::lgamma(y + r, InDoubles()) - boost::math::lgamma(r, InDoubles()) - y * std::log(r) -
         own;
}

double count_log_prob(const LogRate& rate, const CountNoise& noise, double y) {
  check_noise(noise, "count_log_prob");
  if (!(std::isfinite(rate.mean) && std::isfinite(rate.var) && rate.var >= 0))
    refuse("count_log_prob", "a log rate of finite moments",
           fmt::format("the mean {} and the variance {}", rate.mean, rate.var));
  if (!(y >= 0 && std::isfinite(y))) refuse("count_log_prob", "a count >= 0", fmt::format("{}", y));
  const double own = log_prob_of(rate, std::max(noise.dispersion, kLeastDispersion), y);
  if (noise.zero_share == 0) return own;
  return y == 0 ? std::log(noise.zero_share + (1 - noise.zero_share) * std::exp(own))
                : own + std::log1p(-noise.zero_share);
}

double count_cdf(const LogRate& rate, const CountNoise& noise, double k) {
  check_noise(noise, "count_cdf");
  if (k < 0) return 0;
  const double own = noise.dispersion == 0 ? count_cdf(rate, k) : cdf_of(rate, noise.dispersion, k);
  return noise.zero_share + (1 - noise.zero_share) * own;
}

double count_quantile(const LogRate& rate, const CountNoise& noise, double p) {
  check_noise(noise, "count_quantile");
  if (!(p > 0 && p < 1)) refuse("count_quantile", "0 < p < 1", fmt::format("{}", p));
  if (!(std::isfinite(rate.mean) && std::isfinite(rate.var))) return std::numeric_limits<double>::quiet_NaN();
  if (p <= noise.zero_share) return 0;
  const double rest = (p - noise.zero_share) / (1 - noise.zero_share);
  if (!(rest > 0)) return 0;
  // The cdf is a sum of rounded terms, which may stay below a p next to 1.
  const double most = 1 - 1e-12;
  if (noise.dispersion == 0) return count_quantile(rate, std::min(rest, most));
  return whole_quantile(rate, noise.dispersion, std::min(rest, most));
}

}  // namespace slimbayes
