#include "slimbayes/methods/portfolio/tempering.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/method/row_weights.h"

namespace slimbayes {

namespace {

constexpr int kBits = 20;  // of the minimum's place, about 1e-6
constexpr double kFewest = 5;
constexpr double kLeastFactor = 1e-3;  // of a variance: residuals of 0 would ask for none

/// The place and the value of the minimum of f on [low, high].
template <class F>
std::pair<double, double> least_of(F f, double low, double high) {
  return boost::math::tools::brent_find_minima(f, low, high, kBits);
}

/// The largest logarithm of a factor of the variance: where the variance of log y exceeds 100, the moments of
/// y may overflow.
double most_log_factor(const Regression& p) {
  constexpr double kMost = 100;
  double most = std::numeric_limits<double>::infinity();
  for (const DensityComponent& c : p.density) {
    if (c.warp == TargetWarp::none) continue;
    const double var = (c.aleatoric_var + c.epistemic_var).max().item<double>();
    most = std::min(most, std::max(0.0, std::log(kMost / var)));
  }
  return most;
}

/// Keeps the variance of a log target at or below most_var.
void capped(DensityComponent& c) {
  if (std::isinf(c.most_var)) return;
  const at::Tensor share = (c.most_var / (c.aleatoric_var + c.epistemic_var)).clamp_max(1);
  c.aleatoric_var = share * c.aleatoric_var;
  c.epistemic_var = share * c.epistemic_var;
}

/// The component of the wild rows beside c, after the factor: a Gaussian around the mean of the target as it
/// is, whatever the warp of c. A wild log target would have the mean of its exponential.
DensityComponent wild_component(const DensityComponent& c, const Tempering& by) {
  DensityComponent one = c;
  one.weight = 1;
  const Regression own = mixed({std::move(one)});
  return {c.weight * by.wild_share, own.mean, by.wild_factor * own.aleatoric_var,
          by.wild_factor * own.epistemic_var};
}

/// Targets y [n] and how often each counts, [n] or undefined: once.
struct WeightedTargets {
  const at::Tensor &y, &weights;

  double count() const { return total_of(weights, y.size(0)); }
  double nll(const Regression& p) const { return weighted_mean(regression_row_nll(p, y), weights); }
  double sum(const at::Tensor& x) const { return (weights.defined() ? x * weights : x).sum().item<double>(); }
};

/// Returns the share and the wild factor with the largest likelihood of y [n] under the one Gaussian
/// component of p, by expectation maximisation; with `factor_too` the factor as well, of a target without
/// warp.
Tempering fitted_wild_rows(const Regression& p, const WeightedTargets& rows, bool factor_too) {
  constexpr int kMostSteps = 500;
  constexpr double kNormalMedian = 0.4549;  // of the square of a standard normal variable
  constexpr double kEnough = 1e-7;
  const at::Tensor& y = rows.y;
  const at::Tensor square = normal_score(p, y).square(), var_y = total_var(p),
                   far_square = (y.to(at::kDouble) - p.mean).square() / var_y;
  // The log densities without the parts that depend on the factors, the wild one less the other: 0 without a
  // warp.
  const at::Tensor offset =
      -0.5 * (var_y.log() + std::log(2 * std::numbers::pi)) + regression_row_nll(p, y) - 0.5 * square;
  double share = 0.05,
         var = factor_too ? std::max(kLeastFactor, weighted_median(square, rows.weights) / kNormalMedian) : 1,
         wild = 25 * var;
  for (int step = 0; step < kMostSteps; ++step) {
    const double odds = std::log(share / (1 - share)) + 0.5 * std::log(var / wild);
    const at::Tensor r =
        at::sigmoid(odds + offset + 0.5 * square / var - 0.5 * far_square / wild);  // P(row is wild)
    const double sum = rows.sum(r), n = rows.count();
    const double next = sum / n;
    if (!(next > 0 && next < 1)) return {};
    const double own = factor_too ? std::max(kLeastFactor, rows.sum((1 - r) * square) / (n - sum)) : 1;
    const double far = rows.sum(r * far_square) / sum;
    if (!(far > own)) return {};
    const auto same = [](double a, double b) { return std::abs(a - b) < kEnough * b; };
    const bool done = same(next, share) && same(own, var) && same(far, wild);
    share = next;
    var = own;
    wild = far;
    if (done) break;
  }
  return {var, std::numeric_limits<double>::infinity(), share, wild / var};
}

/// The same of a log target, with the factor: the moments of the target depend on it, so that it is found by
/// one-dimensional minimisation between these logarithms.
Tempering fitted_wild_log(const Regression& p, const WeightedTargets& rows, double low, double high) {
  const auto with_share = [&](double log_factor) {
    Tempering by = fitted_wild_rows(tempered(p, {std::exp(log_factor)}), rows, /*factor_too=*/false);
    by.factor = std::exp(log_factor);
    return by;
  };
  const auto [log_factor, nll] =
      least_of([&](double at) { return rows.nll(tempered(p, with_share(at))); }, low, high);
  return with_share(log_factor);
}

}  // namespace

Regression tempered(const Regression& p, const Tempering& by) {
  if (!(by.factor > 0 && std::isfinite(by.factor)))
    refuse("tempered", "a finite factor > 0", fmt::format("{}", by.factor));
  const bool wild = by.wild_share > 0;
  if (!(!wild ||
        (by.wild_share < 1 && by.wild_factor > 1 && std::isfinite(by.wild_factor) && std::isinf(by.dof))))
    refuse("tempered", "a share below 1 of wild rows with a finite factor > 1",
           fmt::format("{} with {}", by.wild_share, by.wild_factor));
  std::vector<DensityComponent> all;
  for (DensityComponent c : components_of(p)) {
    const bool gaussian = std::isinf(c.dof);
    if (gaussian && c.warp == TargetWarp::none) c.dof = by.dof;
    c.aleatoric_var = by.factor * c.aleatoric_var;
    c.epistemic_var = by.factor * c.epistemic_var;
    capped(c);
    if (wild && gaussian) {
      all.push_back(wild_component(c, by));
      c.weight *= 1 - by.wild_share;
    }
    all.push_back(std::move(c));
  }
  Regression out = mixed(std::move(all));
  out.zeroed = p.zeroed;
  out.least = p.least;
  return out;
}

Regression contaminated(const Regression& p, double wild) {
  if (!(wild >= 0 && wild < 1))
    refuse("contaminated", "a share of wrong cells below 1", fmt::format("{}", wild));
  if (wild == 0) return p;
  std::vector<DensityComponent> all = components_of(p);
  for (DensityComponent& c : all) c.weight *= 1 - wild;
  all.push_back({wild, p.mean, kWildCellFactor * p.aleatoric_var, kWildCellFactor * p.epistemic_var});
  all.back().dof = kWildCellDof;
  Regression out = mixed(std::move(all));
  out.zeroed = p.zeroed;
  out.least = p.least;
  return out;
}

Tempering fitted_tempering(const Regression& p, const at::Tensor& y, bool tails, const at::Tensor& weights) {
  const WeightedTargets rows{y, weights};
  const double n = rows.count();
  if (n < kFewest) return {};
  const double start = std::log(std::max(1e-12, weighted_mean(normal_score(p, y).square(), weights)));
  const double most = most_log_factor(p);
  const double low = std::max(std::log(kLeastFactor), std::min(start, 0.0) - 6),
               high = std::min(most, std::max(start, 0.0) + 6);
  const auto scored = [&](double dof) {  // log factor, NLL
    const auto nll = [&](double log_factor) { return rows.nll(tempered(p, {std::exp(log_factor), dof})); };
    return least_of(nll, low, high);
  };
  const auto [gaussian, gaussian_nll] = scored(std::numeric_limits<double>::infinity());
  Tempering best{std::exp(gaussian)};
  if (!tails) return best;
  const bool warped =
      std::ranges::any_of(p.density, [](const auto& c) { return c.warp != TargetWarp::none; });
  double best_score = gaussian_nll;  // with 2 nats more for each parameter beside the factor
  if (!warped) {
    // dof = 2 + exp(u) from 2.05 to 100.
    const auto [u, nll] =
        least_of([&](double at) { return scored(2 + std::exp(at)).second; }, std::log(0.05), std::log(98.0));
    if (nll + 2 / n < best_score) {
      best = {std::exp(scored(2 + std::exp(u)).first), 2 + std::exp(u)};
      best_score = nll + 2 / n;
    }
  }
  const std::vector<DensityComponent> all = components_of(p);
  if (all.size() > 1 || std::isfinite(all.front().dof)) return best;
  const Tempering wild = warped ? fitted_wild_log(p, rows, low, std::min(gaussian, high))
                                : fitted_wild_rows(p, rows, /*factor_too=*/true);
  if (wild.wild_share == 0) return best;
  return rows.nll(tempered(p, wild)) + 4 / n < best_score ? wild : best;
}

Classes with_probabilities(const Classes& p, at::Tensor probabilities) {
  Classes out;
  out.probabilities = std::move(probabilities);
  out.predictive_entropy = -at::special_xlogy(out.probabilities, out.probabilities).sum(-1);
  const at::Tensor share = at::where(p.predictive_entropy > 0, p.expected_entropy / p.predictive_entropy,
                                     at::ones_like(p.predictive_entropy));
  out.expected_entropy = share * out.predictive_entropy;
  out.zeroed = p.zeroed;
  return out;
}

Classes tempered(const Classes& p, double power) {
  if (!(power > 0 && std::isfinite(power)))
    refuse("tempered", "a finite power > 0", fmt::format("{}", power));
  if (power == 1) return p;
  return with_probabilities(p, at::softmax(power * p.probabilities.log(), -1));
}

double fitted_power(const Classes& p, const at::Tensor& y, const at::Tensor& weights) {
  constexpr double kWorth = 2;  // nats in all, as for each parameter of fitted_tempering
  const double n = total_of(weights, y.size(0));
  if (n < kFewest) return 1;
  const auto nll = [&](double log_power) {
    return weighted_mean(class_row_nll(tempered(p, std::exp(log_power)), y), weights);
  };
  const auto [log_power, least] = least_of(nll, std::log(kLeastPower), std::log(kMostPower));
  return least + kWorth / n < nll(0) ? std::clamp(std::exp(log_power), kLeastPower, kMostPower) : 1;
}

}  // namespace slimbayes
