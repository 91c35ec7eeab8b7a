// The probability of an interval and the moments within it, without cancellation. An interval whose middle is
// above 0 is reflected, so that m = (a + b) / 2 <= 0 and phi(a) <= phi(b). Then it is
//
// narrow    w <= 1 and w |m| <= 2: P = phi(m) times the integral of exp(-m t - t^2 / 2) over |t| <= w / 2,
//           by ten Gauss-Legendre nodes, whose error is below rounding on a range of exponents this small.
//           Here Phi(b) - Phi(a) would cancel.
// a tail    b <= 0: P = phi(b) (R(-b) - R(-a) e^(w m)) with the ratio of Mills R(x) = Phi(-x) / phi(x), which
//           does not underflow; e^(w m) = phi(a) / phi(b). As the interval is not narrow, the second term is
//           below e^(-1/2) times the first.
// wide      a < 0 < b: P = 1 - Phi(a) - Phi(-b), at least 0.38.
#include "slimbayes/density/truncated.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "slimbayes/density/unit.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

using TenNodes = boost::math::quadrature::gauss<double, 10>;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
const double kLogRootTwoPi = 0.5 * std::log(2 * std::numbers::pi);

/// The ratio of Mills, Phi(-x) / phi(x), for x >= 0.
double mills(double x) {
  if (std::isinf(x)) return 0;
  return std::sqrt(std::numbers::pi / 2) * scaled_erfc(x / std::numbers::sqrt2);
}

/// A product in which 0 times infinity is 0: that of a bound with the density there.
double bound_times(double bound, double density) { return density == 0 ? 0 : bound * density; }

/// m <= 0, 0 < w <= 1, w |m| <= 2.
TruncatedNormal narrow_normal(double m, double w) {
  const double h = w / 2;
  const auto& nodes = TenNodes::abscissa();  // the positive ones; the rule is symmetric
  const auto& weights = TenNodes::weights();
  double sum = 0;  // of exp(-m h x - h^2 x^2 / 2) over -1 < x < 1, halved
  for (size_t i = 0; i < nodes.size(); ++i)
    sum += weights[i] * std::cosh(m * h * nodes[i]) * std::exp(-0.5 * h * h * nodes[i] * nodes[i]);
  // phi(a) - phi(b) and phi(a) + phi(b), each over phi(m): 2 e^(-h^2 / 2) sinh(m h) and cosh.
  const double scale = 2 * std::exp(-0.5 * h * h) / (w * sum);
  const double odd = scale * std::sinh(m * h), even = scale * std::cosh(m * h);
  return {std::log(w * sum) - 0.5 * m * m - kLogRootTwoPi, odd, m * odd - h * even};
}

/// a + b <= 0 and the interval is neither narrow nor without bounds.
TruncatedNormal wide_normal(double a, double b, double log_ratio) {
  double log_prob, at_upper;  // phi(b) / P
  if (b <= 0) {
    const double share = mills(-b) - mills(-a) * std::exp(log_ratio);
    log_prob = std::log(share) - 0.5 * b * b - kLogRootTwoPi;
    at_upper = 1 / share;
  } else {
    const double outside = 0.5 * (std::erfc(-a / std::numbers::sqrt2) + std::erfc(b / std::numbers::sqrt2));
    log_prob = std::log1p(-outside);
    at_upper = std::exp(-0.5 * b * b - kLogRootTwoPi) / (1 - outside);
  }
  return {log_prob, at_upper * std::expm1(log_ratio),
          at_upper * bound_times(a, std::exp(log_ratio)) - bound_times(b, at_upper)};
}

/// Returns log(F(b) - F(a)) of a Student-t distribution for a < b < 0, where F(b) is too small for a float64.
/// With the variable v = log f(b) - log f(z) the probability is f(b) times the integral over v > 0 of e^-v
/// times a factor |dz / dv| that varies slowly.
double far_student_between(double a, double b, double dof) {
  const double at_upper = student_log_density(b, dof), square = b * b / dof;
  const auto share = [&](double v) {
    const double grown = square * std::exp(2 * v / (dof + 1)) + std::expm1(2 * v / (dof + 1));  // z^2 / dof
    return std::exp(-v) * (1 + grown) * std::sqrt(dof / grown) / (dof + 1);
  };
  // The integrand falls as e^(-v dof / (dof + 1)).
  const double last = std::min(at_upper - student_log_density(a, dof), 40 * (dof + 1) / dof);
  const int pieces = 16;
  double sum = 0;
  for (int i = 0; i < pieces; ++i)
    sum += TenNodes::integrate(share, last * i / pieces, last * (i + 1) / pieces);
  return at_upper + std::log(sum);
}

}  // namespace

TruncatedNormal truncated_normal(double a, double b, double width) {
  if (a == -kUnbounded && b == kUnbounded) return {0, 0, 0};
  if (a == b) return {-kUnbounded, a, a * a - 1};
  if (a + b > 0) {
    const TruncatedNormal left = truncated_normal(-b, -a, width);
    return {left.log_prob, -left.mean, left.excess};
  }
  const double m = 0.5 * (a + b);
  if (width <= 1 && width * -m <= 2) return narrow_normal(m, width);
  return wide_normal(a, b, std::isinf(a) ? -kUnbounded : width * m);
}

double log_student_between(double a, double b, double width, double dof) {
  if (!(dof > 0)) refuse("log_student_between", "more than 0 degrees of freedom", fmt::format("{}", dof));
  if (std::isinf(dof)) return truncated_normal(a, b, width).log_prob;
  if (a == -kUnbounded && b == kUnbounded) return 0;
  if (a == b) return -kUnbounded;
  if (a + b > 0) return log_student_between(-b, -a, width, dof);
  // Narrow: the nearest pole of the density is 4 half widths away, and its logarithm varies little.
  const double m = 0.5 * (a + b), square = m * m + dof, per = (dof + 1) / square;
  if (width <= 0.5 * std::sqrt(square) && width * per * -m <= 2 && width * width * per <= 1) {
    const double middle = student_log_density(m, dof);
    const auto share = [&](double x) {
      return std::exp(student_log_density(m + 0.5 * width * x, dof) - middle);
    };
    return middle + std::log(0.5 * width * TenNodes::integrate(share));
  }
  constexpr double kLeastTail = 1e-280;
  const double below = student_cdf(b, dof);
  if (below < kLeastTail) return far_student_between(a, b, dof);
  if (b <= 0) return std::log(below - student_cdf(a, dof));
  return std::log1p(-(student_cdf(a, dof) + student_cdf(-b, dof)));
}

}  // namespace slimbayes
