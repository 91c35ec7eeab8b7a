#include "slimbayes/methods/portfolio/portfolio_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/method/row_weights.h"
#include "slimbayes/methods/portfolio/log_pool.h"
#include "slimbayes/methods/portfolio/stacking.h"
#include "slimbayes/methods/portfolio/tempering.h"

namespace slimbayes {

namespace {

constexpr double kLeastWeight = 0.02;  // of a candidate of a mixture

/// Returns the least factor of the variance, from 1 to 25, with which the central 95 % intervals of these
/// answers hold their level, or that with the fewest misses if none does: 1 unless more targets lie outside
/// than chance explains. The log score alone may prefer a density that is right in its middle and too narrow
/// at the ends of the interval. Of rows with weights the number is the effective one, and that of the targets
/// outside is their weighted share of it, both rounded down; kRounding keeps a sum of weights that lies just
/// below a whole number from losing one.
double widening(const Regression& p, const at::Tensor& y, const at::Tensor& weights) {
  constexpr double kLevel = 0.95, kUnlikely = 0.05, kStep = 1.05, kMost = 25, kRounding = 1e-9;
  const auto n = static_cast<int64_t>(effective_rows(weights, y.size(0)) + kRounding),
             enough = static_cast<int64_t>((1 - kLevel) * static_cast<double>(n));
  const double end = normal_quantile((1 + kLevel) / 2);
  const auto misses = [&](double factor) {
    const at::Tensor outside = normal_score(tempered(p, {factor}), y).abs() > end;
    if (!weights.defined()) return outside.sum().item<int64_t>();
    return static_cast<int64_t>(weighted_mean(outside.to(at::kDouble), weights) * static_cast<double>(n) +
                                kRounding);
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
/// nothing (`constant`), or very far worse than the best candidate. The log score of a mixture alone would
/// not tell: where the others explain a row, a candidate loses next to nothing by being wrong about it
/// without doubt.
bool hopeless(const TriedCandidate& one, const std::vector<TriedCandidate>& all) {
  constexpr double kBehindConstant = 1, kBehindBest = 10;  // nats a row
  double most = std::numeric_limits<double>::infinity();
  for (const TriedCandidate& t : all) {
    if (!std::isfinite(t.nll) || !t.left_out.empty()) continue;
    most = std::min(most, t.nll + (t.candidate.method == "constant" ? kBehindConstant : kBehindBest));
  }
  return one.candidate.method != "constant" && one.nll > most;
}

/// Candidates that answer together, by their places in the list, and their weights, which sum to 1.
struct Together {
  std::vector<size_t> used;
  std::vector<double> weights;
  std::optional<double> power;  // of a pool of several answers of classes
};

using Held = std::vector<std::optional<Predictive>>;

std::vector<Predictive> answers_of(const std::vector<size_t>& used, const Held& held) {
  std::vector<Predictive> answers;
  for (const size_t i : used) answers.push_back(*held[i]);
  return answers;
}

/// The targets of the held-out rows [n], and the weights of these rows, undefined: each counts once.
struct HeldTargets {
  at::Tensor y, rows;

  double count() const { return total_of(rows, y.size(0)); }
  double nll(const Predictive& p) const { return weighted_mean(row_nll(p, y), rows); }
};

/// The mixture with the best log score, without the candidates that have less than kLeastWeight of it.
Together stacked(std::vector<size_t> used, const Held& held, const HeldTargets& targets) {
  const double n = targets.count();
  for (;;) {
    std::vector<at::Tensor> columns;
    for (const size_t i : used) columns.push_back(-row_nll(*held[i], targets.y));
    const std::vector<double> weights = stacking_weights(at::stack(columns, 1), targets.rows);
    // The prior gives every candidate 1 / (n + k), whatever its answers are worth.
    const double least = (1 + kLeastWeight * n) / (n + static_cast<double>(used.size())),
                 most = std::ranges::max(weights);
    std::vector<size_t> kept;
    for (size_t k = 0; k < used.size(); ++k)
      if (weights[k] >= least || weights[k] == most) kept.push_back(used[k]);
    if (kept.size() == used.size()) return {std::move(used), weights, std::nullopt};
    used = std::move(kept);
  }
}

double mean_nll(const Together& t, const Held& held, const HeldTargets& targets) {
  return targets.nll(pooled(answers_of(t.used, held), t.weights, t.power));
}

/// The pool of these candidates with the best log score, without those that have no weight in it.
Together pool_of(const std::vector<size_t>& used, const Held& held, const HeldTargets& targets) {
  if (used.size() == 1) return {used, {1}, std::nullopt};
  std::vector<Classes> classes;
  for (const size_t i : used) classes.push_back(std::get<Classes>(*held[i]));
  const std::vector<double> weights = log_pool_weights(classes, targets.y, targets.rows);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  Together out;
  for (size_t k = 0; k < used.size(); ++k)
    if (weights[k] > 0) {
      out.used.push_back(used[k]);
      out.weights.push_back(weights[k] / sum);
    }
  if (out.used.empty())
    out.used = {*std::ranges::min_element(used, {}, [&](size_t i) { return targets.nll(*held[i]); })};
  if (out.used.size() == 1) return {out.used, {1}, std::nullopt};
  out.power = std::clamp(sum, kLeastPower, kMostPower);
  return out;
}

/// The pool of the candidates that it needs. It removes candidates one at a time, each time the one whose
/// removal costs least, as long as that is less than a quarter of a nat of the log score of all rows. Of
/// several that know the same, one remains. A whole nat, the worth of a parameter (Akaike 1974), would leave
/// out candidates that make the answers safer where rows are few.
Together needed_pool(const std::vector<size_t>& used, const Held& held, const HeldTargets& targets) {
  constexpr double kWorth = 0.25;
  const double worth = kWorth / targets.count();
  Together best = pool_of(used, held, targets);
  double nll = mean_nll(best, held, targets);
  while (best.used.size() > 1) {
    Together least;
    double least_nll = std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < best.used.size(); ++k) {
      std::vector<size_t> rest = best.used;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      Together without = pool_of(rest, held, targets);
      if (const double found = mean_nll(without, held, targets); found < least_nll) {
        least = std::move(without);
        least_nll = found;
      }
    }
    if (!(least_nll < nll + worth)) break;
    best = std::move(least);
    nll = least_nll;
  }
  return best;
}

/// Evenly spaced rows, so that the search for a pool takes no time worth mentioning with many classes.
at::Tensor some_rows(const at::Tensor& targets, int64_t classes) {
  constexpr int64_t kMostCells = 200'000, kLeastRows = 1000;
  const int64_t n = targets.size(0), most = std::max(kMostCells / classes, kLeastRows), k = std::min(n, most);
  return at::floor_divide(at::arange(k) * n, k);
}

Classes rows_of(const Classes& p, const at::Tensor& which) {
  return {p.probabilities.index_select(0, which), p.predictive_entropy.index_select(0, which),
          p.expected_entropy.index_select(0, which), p.zeroed};
}

Together needed_pool_of_some_rows(const std::vector<size_t>& used, const Held& held,
                                  const HeldTargets& targets) {
  const at::Tensor which = some_rows(targets.y, std::get<Classes>(*held[used.front()]).probabilities.size(1));
  Held some(held.size());
  for (const size_t i : used) some[i] = rows_of(std::get<Classes>(*held[i]), which);
  const at::Tensor& rows = targets.rows;
  return needed_pool(used, some,
                     {targets.y.index_select(0, which), rows.defined() ? rows.index_select(0, which) : rows});
}

}  // namespace

Weighting weigh(std::vector<TriedCandidate>& tried, const Held& held, const at::Tensor& targets, bool best,
                const at::Tensor& weights) {
  const HeldTargets rows{targets, weights};
  std::vector<size_t> used;
  for (size_t i = 0; i < tried.size(); ++i)
    if (held[i] && !hopeless(tried[i], tried)) used.push_back(i);
  if (best) used = {*std::ranges::min_element(used, {}, [&](size_t i) { return tried[i].nll; })};
  const Together found = std::holds_alternative<Classes>(*held[used.front()])
                             ? needed_pool_of_some_rows(used, held, rows)
                             : stacked(used, held, rows);
  Predictive pool = pooled(answers_of(found.used, held), found.weights, found.power);
  double factor = 1;
  if (const auto* r = std::get_if<Regression>(&pool)) {
    factor = fitted_tempering(*r, targets, /*tails=*/false, weights).factor;
    factor *= widening(tempered(*r, {factor}), targets, weights);
    pool = tempered(*r, {factor});
  }
  for (size_t k = 0; k < found.used.size(); ++k) {
    tried[found.used[k]].weight = found.weights[k];
    tried[found.used[k]].tempering.factor *= factor;
  }
  const at::Tensor nll = row_nll(pool, targets);
  return {weighted_mean(nll, weights), nll, found.power};
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
