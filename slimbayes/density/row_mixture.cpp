// The density of one row as a mixture of Gaussian and Student-t components, some of a warped target, in
// plain numbers: tensors of a few rows would cost more to make than to compute.
//
// Model       p(y) = sum_k w_k f_k((t_k(y) - m_k) / s_k) / s_k |dt_k / dy|, with the unit density f_k of the
//             component, the warped target t (density/warp.h), and s_k^2 = var_k (dof_k - 2) / dof_k.
// Quantile    It lies between the least and the largest quantile of the components. Newton's method on the
//             normal score, which is nearly linear in y, with bisection as the safeguard. Near the solution
//             the score comes from the tail's probability by its Taylor series, which has no error there.
// CRPS        The integral of (F(x) - [x >= y])^2 over the pieces between y and quantiles of the components:
//             in each piece the integrand is smooth, so that three Gauss-Legendre nodes suffice.
// Cost        O(K) for a density of K components; some five densities and cumulative probabilities of each
//             component for a quantile.
#include "slimbayes/density/row_mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "slimbayes/density/logistic_moments.h"
#include "slimbayes/density/truncated.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFarthestScore = 1e6;

/// The probabilities of both tails. Each is accurate where it is small.
struct Tails {
  double below = 0, above = 0;

  void add(double weight, double z, double dof) {
    const double least = student_cdf(-std::abs(z), dof), most = 1 - least;
    below += weight * (z < 0 ? least : most);
    above += weight * (z < 0 ? most : least);
  }
  double least() const { return std::min(below, above); }
  double sign() const { return below < above ? -1 : 1; }
};

/// The moments of exp(t) for a Gaussian t, of a log-normal distribution.
RowMoments exponential_moments(const RowMoments& t) {
  const double unit = std::exp(t.mean + 0.5 * t.var());
  return {unit, unit * unit * std::exp(t.epistemic_var) * std::expm1(t.aleatoric_var),
          unit * unit * std::expm1(t.epistemic_var)};
}

}  // namespace

ComponentShape shape_within(const TargetBounds& bounds) {
  ComponentShape shape;
  const bool above = std::isfinite(bounds.low);
  shape.warp = bounds.both() ? TargetWarp::logit : above ? TargetWarp::log : TargetWarp::log_below;
  shape.shift = above ? bounds.low : bounds.high;
  shape.scale = bounds.both() ? bounds.high - bounds.low : 1;
  return shape;
}

RowMoments target_moments(const ComponentShape& c, const RowMoments& t) {
  if (c.warp == TargetWarp::none)
    return {c.shift + c.scale * t.mean, c.scale * c.scale * t.aleatoric_var,
            c.scale * c.scale * t.epistemic_var};
  if (c.warp == TargetWarp::logit || c.warp == TargetWarp::log_below) {
    const bool logit = c.warp == TargetWarp::logit;
    const RowMoments own =
        logit ? logistic_moments(t, c.dof) : exponential_moments({-t.mean, t.aleatoric_var, t.epistemic_var});
    return {logit ? c.shift + c.scale * own.mean : c.shift - c.scale * own.mean,
            c.scale * c.scale * own.aleatoric_var, c.scale * c.scale * own.epistemic_var};
  }
  const double share = std::min(1.0, std::max(c.most - t.mean, c.spare_var) / t.var()),
               aleatoric = share * t.aleatoric_var, epistemic = share * t.epistemic_var;
  const double unit = std::exp(t.mean + 0.5 * (aleatoric + epistemic)),
               square = (c.scale * unit) * (c.scale * unit);
  return {c.shift + c.scale * unit, square * std::exp(epistemic) * std::expm1(aleatoric),
          square * std::expm1(epistemic)};
}

RowMoments mixed_moments(std::span<const ComponentShape> shapes, std::span<const RowMoments> targets) {
  RowMoments out;
  for (size_t k = 0; k < shapes.size(); ++k) {
    out.mean += shapes[k].weight * targets[k].mean;
    out.aleatoric_var += shapes[k].weight * targets[k].aleatoric_var;
    out.epistemic_var += shapes[k].weight * targets[k].epistemic_var;
  }
  // From the deviations and not as E[x^2] - E[x]^2, which loses digits if the means are nearly equal.
  for (size_t k = 0; k < shapes.size() && shapes.size() > 1; ++k) {
    const double deviation = targets[k].mean - out.mean;
    out.epistemic_var += shapes[k].weight * (deviation * deviation);
  }
  return out;
}

bool RowMixture::Component::gaussian() const { return std::isinf(dof); }

/// -inf below the range of a warped target, inf above it.
double RowMixture::Component::warped(double y) const {
  const double t = (y - shift) / scale;
  switch (warp) {
    case TargetWarp::log:
      return std::log(std::max(t, 0.0));
    case TargetWarp::log_below:
      return -std::log(std::max(-t, 0.0));
    case TargetWarp::logit:
      if (!(t > 0 && t < 1)) return t >= 1 ? kInfinity : t <= 0 ? -kInfinity : t;
      return std::log(t) - std::log1p(-t);
    default:
      return t;
  }
}

double RowMixture::Component::unwarped(double t) const {
  switch (warp) {
    case TargetWarp::log:
      return shift + scale * std::exp(t);
    case TargetWarp::log_below:
      return shift - scale * std::exp(-t);
    case TargetWarp::logit: {
      // From the nearer end: the value never passes it by rounding.
      const double e = std::exp(-std::abs(t)), part = scale * (e / (1 + e));
      return t < 0 ? shift + part : (shift + scale) - part;
    }
    default:
      return shift + scale * t;
  }
}

/// Returns log(dy / dt) - log(scale).
double RowMixture::Component::log_slope(double t) const {
  switch (warp) {
    case TargetWarp::log:
      return t;
    case TargetWarp::log_below:
      return -t;
    case TargetWarp::logit:
      return -std::abs(t) - 2 * std::log1p(std::exp(-std::abs(t)));
    default:
      return 0;
  }
}

/// warped(upper) - warped(lower), accurate also where the bounds are close.
double RowMixture::Component::warped_width(double lower, double upper) const {
  const double width = upper - lower, low = lower - shift, high = upper - shift;
  switch (warp) {
    case TargetWarp::log:
      return low > 0 ? std::log1p(width / low) : kInfinity;
    case TargetWarp::log_below:
      return high < 0 ? std::log1p(width / -high) : kInfinity;
    case TargetWarp::logit:
      return low > 0 && high < scale ? std::log1p(width / low) + std::log1p(width / (scale - high))
                                     : kInfinity;
    default:
      return width / scale;
  }
}

double RowMixture::Component::log_unit_density(double z) const {
  return log_constant - (gaussian() ? 0.5 * z * z : (dof + 1) / 2 * std::log1p(z * z / dof));
}

RowMixture::RowMixture(std::span<const ComponentShape> shapes) {
  for (const ComponentShape& c : shapes)
    all_.push_back({c.weight, std::log(c.weight), c.dof, c.shift, c.scale, c.warp,
                    student_log_constant(c.dof), shapes.size() == 1 ? student_crps_spread(c.dof) : 0});
}

RowMixture::Part RowMixture::part(size_t k, double mean, double var) const {
  const double dof = all_[k].dof;
  return {mean, std::sqrt(std::isinf(dof) ? var : var * ((dof - 2) / dof))};
}

double RowMixture::log_density(std::span<const Part> parts, double y) const {
  // log sum exp in one pass.
  double most = -kInfinity, sum = 0;
  for (size_t k = 0; k < all_.size(); ++k) {
    const Component& c = all_[k];
    const double t = c.warped(y);
    if (!std::isfinite(t)) continue;
    const double one = c.log_unit_density((t - parts[k].mean) / parts[k].scale) -
                       std::log(parts[k].scale * c.scale) + c.log_weight - c.log_slope(t);
    if (all_.size() == 1) return one;
    if (one > most) {
      sum = sum * std::exp(most - one) + 1;
      most = one;
    } else if (one != -kInfinity) {
      sum += std::exp(one - most);
    }
  }
  return most + std::log(sum);
}

double RowMixture::log_between(std::span<const Part> parts, double lower, double upper) const {
  double most = -kInfinity;
  std::vector<double> logs(all_.size());
  for (size_t k = 0; k < all_.size(); ++k) {
    const Component& c = all_[k];
    const double s = parts[k].scale;
    logs[k] = c.log_weight + log_student_between((c.warped(lower) - parts[k].mean) / s,
                                                 (c.warped(upper) - parts[k].mean) / s,
                                                 c.warped_width(lower, upper) / s, c.dof);
    most = std::max(most, logs[k]);
  }
  if (all_.size() == 1 || most == -kInfinity) return logs[0];
  double sum = 0;
  for (const double one : logs) sum += std::exp(one - most);
  return most + std::log(sum);
}

/// Returns the size of the normal score where the tail of every component is too small for a float64. There
/// the heaviest tail decides, and the score is sqrt(-2 log P) up to a relative 1e-3. The tail beyond z is
/// f(z) z / dof of a Student-t distribution and f(z) / z of a Gaussian. At most 1e6, also outside the range
/// of a log target.
double RowMixture::far_score(std::span<const Part> parts, double y) const {
  double log_tail = -kInfinity;
  for (size_t k = 0; k < all_.size(); ++k) {
    const Component& c = all_[k];
    const double z = std::abs((c.warped(y) - parts[k].mean) / parts[k].scale);
    log_tail = std::max(
        log_tail, c.log_weight + (c.gaussian() ? -0.5 * z * z : c.log_unit_density(z) + std::log(z / c.dof)));
  }
  return std::min(kFarthestScore, std::sqrt(-2 * log_tail));
}

double RowMixture::normal_score(std::span<const Part> parts, double y) const {
  if (all_.size() == 1 && all_[0].gaussian()) return (all_[0].warped(y) - parts[0].mean) / parts[0].scale;
  Tails tails;
  for (size_t k = 0; k < all_.size(); ++k)
    tails.add(all_[k].weight, (all_[k].warped(y) - parts[k].mean) / parts[k].scale, all_[k].dof);
  const double least = tails.least();
  if (std::isnan(least)) return least;
  return tails.sign() * (least > 0 ? -normal_quantile(std::min(least, 0.5)) : far_score(parts, y));
}

RowMixture::Units RowMixture::units(double score) const {
  const double size = std::abs(score);
  Units out{score, student_cdf(-size, kInfinity), std::exp(student_log_density(size, kInfinity)), {}};
  for (const Component& c : all_) out.of.push_back(student_quantile_at(score, c.dof));
  return out;
}

/// Returns the size of the normal score whose tail has this probability, at most 1/2. From the probability
/// `target.tail` of a near score, by the Taylor series of the quantile.
static double size_of_score(double tail, const RowMixture::Units& target) {
  const double near = std::abs(target.score), u = (target.tail - tail) / target.density;
  if (!(std::abs(u) * (1 + near) < 0.01)) return -normal_quantile(std::min(tail, 0.5));
  return near + u * (1 + u * (0.5 * near + u * (2 * near * near + 1) / 6));
}

RowMixture::ScoreAt RowMixture::score_near(std::span<const Part> parts, double y, const Units& target) const {
  Tails tails;
  double density = 0;
  for (size_t k = 0; k < all_.size(); ++k) {
    const Component& c = all_[k];
    const double t = c.warped(y), z = (t - parts[k].mean) / parts[k].scale;
    tails.add(c.weight, z, c.dof);
    if (std::isfinite(t))
      density += c.weight / (parts[k].scale * c.scale) * std::exp(c.log_unit_density(z) - c.log_slope(t));
  }
  const double least = tails.least(), size = least > 0 ? size_of_score(least, target) : far_score(parts, y);
  // d score / dx = p(x) / phi(score).
  return {tails.sign() * size, density * std::exp(0.5 * size * size) * std::sqrt(2 * std::numbers::pi)};
}

double RowMixture::quantile(std::span<const Part> parts, const Units& units, double sd) const {
  double low = kInfinity, high = -kInfinity, x = 0;
  for (size_t k = 0; k < all_.size(); ++k) {
    const double y = all_[k].unwarped(parts[k].mean + units.of[k] * parts[k].scale);
    low = std::min(low, y);
    high = std::max(high, y);
    x += all_[k].weight * y;
  }
  if (all_.size() == 1) return low;
  if (!(x >= low && x <= high)) x = 0.5 * (low + high);
  const double enough = 1e-12 * sd + 4 * std::numeric_limits<double>::epsilon() * std::abs(x);
  constexpr int kMost = 400, kPatience = 16;
  double before = kInfinity;  // size of the gap one step ago
  for (int i = 0; i < kMost; ++i) {
    const auto [score, slope] = score_near(parts, x, units);
    const double gap = score - units.score;
    if (gap == 0) return x;
    (gap < 0 ? low : high) = x;
    const double newton = x - gap / slope;
    const bool sane = newton >= low && newton <= high;
    if (sane && std::abs(newton - x) <= enough) return newton;
    // Bisects where Newton's method does not halve the gap, and after some steps now and then in any case.
    const bool slow = std::abs(gap) > 0.5 * before || (i > kPatience && i % 4 == 3);
    before = std::abs(gap);
    x = sane && !slow ? newton : 0.5 * (low + high);
    if (high - low <= enough) return x;
  }
  throw NumericalError(fmt::format("[quantile] expected a quantile within {} steps; received none", kMost));
}

std::vector<RowMixture::Units> RowMixture::crps_ends() const {
  std::vector<Units> ends;
  if (all_.size() == 1 && all_[0].warp == TargetWarp::none) return ends;
  for (double z = -6; z <= 6; z += 0.75) ends.push_back(units(z));
  return ends;
}

double RowMixture::crps(std::span<const Part> parts, double y, std::span<const Units> ends) const {
  const Component& first = all_.front();
  if (all_.size() == 1 && first.warp == TargetWarp::none)
    return first.scale * parts[0].scale *
           student_unit_crps((first.warped(y) - parts[0].mean) / parts[0].scale, first.dof,
                             first.crps_spread);
  std::vector<double> knots = {y};
  for (const Units& end : ends)
    for (size_t k = 0; k < all_.size(); ++k)
      knots.push_back(all_[k].unwarped(parts[k].mean + end.of[k] * parts[k].scale));
  std::ranges::sort(knots);
  const std::array<double, 3> nodes = {0.5 - std::sqrt(0.15), 0.5, 0.5 + std::sqrt(0.15)};
  const std::array<double, 3> weights = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  double sum = 0;
  for (size_t i = 0; i + 1 < knots.size(); ++i) {
    const double from = knots[i], width = knots[i + 1] - from, right = from >= y ? 1 : 0;
    if (width == 0) continue;
    for (size_t j = 0; j < nodes.size(); ++j) {
      double below = 0;
      for (size_t k = 0; k < all_.size(); ++k)
        below += all_[k].weight *
                 student_cdf((all_[k].warped(from + nodes[j] * width) - parts[k].mean) / parts[k].scale,
                             all_[k].dof);
      sum += weights[j] * width * (below - right) * (below - right);
    }
  }
  return sum;
}

}  // namespace slimbayes
