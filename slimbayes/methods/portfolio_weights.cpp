#include "slimbayes/methods/portfolio_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "slimbayes/core/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/density.h"
#include "slimbayes/core/log_pool.h"
#include "slimbayes/core/metrics.h"
#include "slimbayes/core/mixture.h"
#include "slimbayes/core/stacking.h"
#include "slimbayes/core/tempering.h"

namespace slimbayes {

namespace {

constexpr double kLeastWeight = 0.02;  // the share in the answer of a candidate that takes part

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
/// nothing (`constant`), or very far worse than the best candidate. The log score of a mixture alone would not
/// tell: where the others explain a row, a candidate loses next to nothing by being wrong about it without
/// doubt.
bool hopeless(const Tried& one, const std::vector<Tried>& all) {
  constexpr double kBehindConstant = 1, kBehindBest = 10;  // nats a row
  double most = std::numeric_limits<double>::infinity();
  for (const Tried& t : all) {
    if (!std::isfinite(t.nll) || !t.left_out.empty()) continue;
    most = std::min(most, t.nll + (t.candidate.method == "constant" ? kBehindConstant : kBehindBest));
  }
  return one.candidate.method != "constant" && one.nll > most;
}

struct CandidateWeights {
  std::vector<double> weights;  // they sum to 1
  std::optional<double> power;  // of a pool of classes
  std::vector<double> shares;   // of the candidates in the answer; they sum to 1
  double least = kLeastWeight;  // a smaller share says that the candidate is not needed
};

void divide_by_sum(std::vector<double>& x) {
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (double& each : x) each = sum > 0 ? each / sum : 1 / static_cast<double>(x.size());
}

CandidateWeights weights_of(const std::vector<Predictive>& parts, const at::Tensor& targets) {
  CandidateWeights out;
  if (parts.size() == 1) {
    out.weights = out.shares = {1};
    return out;
  }
  if (std::holds_alternative<Classes>(parts.front())) {
    std::vector<Classes> classes;
    for (const Predictive& part : parts) classes.push_back(std::get<Classes>(part));
    out.weights = log_pool_weights(classes, targets);
    out.power =
        std::clamp(std::accumulate(out.weights.begin(), out.weights.end(), 0.0), kLeastPower, kMostPower);
    // Equal probabilities have the weight of the prior, and no effect.
    for (size_t i = 0; i < classes.size(); ++i) out.shares.push_back(out.weights[i] * log_spread(classes[i]));
    divide_by_sum(out.shares);
    divide_by_sum(out.weights);
    return out;
  }
  std::vector<at::Tensor> columns;
  for (const Predictive& part : parts) columns.push_back(-row_nll(part, targets));
  out.weights = out.shares = stacking_weights(at::stack(columns, 1));
  // Its prior gives every candidate 1 / (n + k), whatever its answers are worth.
  const auto n = static_cast<double>(targets.size(0)), k = static_cast<double>(parts.size());
  out.least = (1 + kLeastWeight * n) / (n + k);
  return out;
}

}  // namespace

Weighed weigh(std::vector<Tried>& tried, const std::vector<std::optional<Predictive>>& held,
              const at::Tensor& targets, bool best) {
  std::vector<size_t> used;
  for (size_t i = 0; i < tried.size(); ++i)
    if (held[i] && !hopeless(tried[i], tried)) used.push_back(i);
  if (best) used = {*std::ranges::min_element(used, {}, [&](size_t i) { return tried[i].nll; })};
  const auto answers_of = [&](const std::vector<size_t>& of) {
    std::vector<Predictive> answers;
    for (const size_t i : of) answers.push_back(*held[i]);
    return answers;
  };
  CandidateWeights found = weights_of(answers_of(used), targets);
  const auto needed = [&] {
    std::vector<size_t> kept;
    const double most = std::ranges::max(found.shares);
    for (size_t k = 0; k < used.size(); ++k)
      if (found.shares[k] >= found.least || found.shares[k] == most) kept.push_back(used[k]);
    return kept;
  };
  for (std::vector<size_t> kept = needed(); kept.size() < used.size(); kept = needed()) {
    used = kept;
    found = weights_of(answers_of(used), targets);
  }
  Predictive pool = pooled(answers_of(used), found.weights, found.power);
  double factor = 1;
  if (const auto* r = std::get_if<Regression>(&pool)) {
    factor = fitted_tempering(*r, targets, /*tails=*/false).factor;
    factor *= widening(tempered(*r, {factor}), targets);
    pool = tempered(*r, {factor});
  }
  for (size_t k = 0; k < used.size(); ++k) {
    tried[used[k]].weight = found.weights[k];
    tried[used[k]].tempering.factor *= factor;
  }
  return {row_nll(pool, targets).mean().item<double>(), found.power};
}

Predictive pooled(const std::vector<Predictive>& answers, const std::vector<double>& weights,
                  std::optional<double> power) {
  if (answers.size() == 1 || !std::holds_alternative<Classes>(answers.front()))
    return mixture(answers, weights);
  check(power.has_value(), "auto", "the power of the pooled class probabilities in the model file", "none",
        "an older slimbayes wrote it; fit again");
  std::vector<Classes> classes;
  std::vector<double> powers;
  for (size_t i = 0; i < answers.size(); ++i) {
    classes.push_back(std::get<Classes>(answers[i]));
    powers.push_back(*power * weights[i]);
  }
  return log_pool(classes, powers);
}

}  // namespace slimbayes
