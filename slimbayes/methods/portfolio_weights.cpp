#include "slimbayes/methods/portfolio_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "slimbayes/core/answers.h"
#include "slimbayes/core/density.h"
#include "slimbayes/core/metrics.h"
#include "slimbayes/core/mixture.h"
#include "slimbayes/core/stacking.h"
#include "slimbayes/core/tempering.h"

namespace slimbayes {

namespace {

constexpr double kLeastWeight = 0.02;  // of a candidate that answers

/// Returns the least factor of the variance, from 1 to 25, with which the central 95 % intervals of these
/// answers hold their level, or that with the fewest misses if none does: 1 unless more targets lie outside
/// than chance explains. The log score alone may prefer a density that is right in its middle and too narrow
/// at the ends of the interval.
double widening(const Regression& p, const at::Tensor& y) {
  constexpr double kLevel = 0.95, kUnlikely = 0.05, kStep = 1.05, kMost = 25;
  const int64_t n = y.size(0), enough = static_cast<int64_t>((1 - kLevel) * static_cast<double>(n));
  const double end = normal_quantile((1 + kLevel) / 2);
  const auto misses = [&](double factor) {
    return (normal_score(tempered(p, {factor}), y).abs() > end).sum().item<int64_t>();
  };
  double best = 1;
  int64_t least = misses(1);
  if (probability_of_misses(least, n, kLevel) >= kUnlikely) return 1;
  for (double factor = kStep; factor < kMost && least > enough; factor *= kStep)
    if (const int64_t count = misses(factor); count < least) {
      least = count;
      best = factor;
    }
  return best;
}

/// Returns whether the candidate takes no part because it predicts far worse than an answer that knows
/// nothing (`constant`), or very far worse than the best candidate. The log score of the mixture alone would
/// not tell: where the others explain a row, a candidate loses next to nothing by being wrong about it
/// without doubt.
bool hopeless(const Tried& one, const std::vector<Tried>& all) {
  constexpr double kBehindConstant = 1, kBehindBest = 10;  // nats a row
  double most = std::numeric_limits<double>::infinity();
  for (const Tried& t : all) {
    if (!std::isfinite(t.nll) || !t.left_out.empty()) continue;
    most = std::min(most, t.nll + (t.candidate.method == "constant" ? kBehindConstant : kBehindBest));
  }
  return one.candidate.method != "constant" && one.nll > most;
}

}  // namespace

Weighed weigh(std::vector<Tried>& tried, const std::vector<std::optional<Predictive>>& held,
              const at::Tensor& targets, bool best) {
  std::vector<size_t> used;
  for (size_t i = 0; i < tried.size(); ++i)
    if (held[i] && !hopeless(tried[i], tried)) used.push_back(i);
  if (best) used = {*std::ranges::min_element(used, {}, [&](size_t i) { return tried[i].nll; })};
  const auto weights_of = [&](const std::vector<size_t>& of) {
    std::vector<at::Tensor> columns;
    for (const size_t i : of) columns.push_back(-row_nll(*held[i], targets));
    return stacking_weights(at::stack(columns, 1));
  };
  std::vector<double> weights = weights_of(used);
  std::vector<size_t> kept;
  // The prior of stacking_weights() gives every candidate 1 / (n + k), whatever its answers are worth.
  const double n = static_cast<double>(targets.size(0)), all = n + static_cast<double>(used.size());
  const double least = (1 + kLeastWeight * n) / all, most = std::ranges::max(weights);
  for (size_t k = 0; k < used.size(); ++k)
    if (weights[k] >= least || weights[k] == most) kept.push_back(used[k]);
  if (kept.size() < used.size()) weights = weights_of(kept);
  std::vector<Predictive> parts;
  for (const size_t i : kept) parts.push_back(*held[i]);
  Predictive pool = mixture(parts, weights);
  double factor = 1, power = 1;
  if (const auto* c = std::get_if<Classes>(&pool); c != nullptr && kept.size() > 1) {
    power = fitted_power(*c, targets);
    pool = tempered(*c, power);
  }
  if (const auto* r = std::get_if<Regression>(&pool)) {
    factor = fitted_tempering(*r, targets, /*tails=*/false).factor;
    factor *= widening(tempered(*r, {factor}), targets);
    pool = tempered(*r, {factor});
  }
  for (size_t k = 0; k < kept.size(); ++k) {
    tried[kept[k]].weight = weights[k];
    tried[kept[k]].tempering.factor *= factor;
  }
  return {row_nll(pool, targets).mean().item<double>(), power};
}

}  // namespace slimbayes
