// Adaptive conformal intervals of a series.
//
// Problem     Conformal intervals hold their level where new rows are exchangeable with those of calibration.
//             Those of a series are not: its level or its noise drifts.
// Method      Follow the targets as they come. After a target outside its interval widen the next one, after
//             one inside narrow it a little, so that the share outside stays alpha = 1 - level. Quantile
//             tracking does so with the factor itself; the integrator adds what the sum of the errors asks
//             for, and is infinite once that sum is h(t) or more (Angelopoulos, Candes and Tibshirani 2023,
//             Conformal PID control for time series prediction).
// Guarantee   If the sum E is h(t) or more, the next target is inside, and E falls; else it grows by less
//             than 1. So |E| is at most h + 1, for any sequence of scores, also an adversarial one, and the
//             share outside tends to alpha. The same is true for every level. It says nothing of a single
//             interval, nor of a short stretch.
// State       The last 2,000 scores. The factor of a level is replayed from them, so that a model answers any
//             level and its file holds no numbers for each level. Once scores are dropped, the bound is that
//             of the replay.
// Cost        O(100 m) for each level.
#include "slimbayes/answers/calibration/adaptive_conformal.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr double kRate = 0.1, kIntegral = 0.3;        // times the largest recent score
constexpr int64_t kRecent = 100;                      // scores
constexpr double kSaturation = 2 / std::numbers::pi;  // C of the paper

void check_adaptive_level(double level) {
  if (!(level > 0 && level < 1))
    refuse("adaptive_factors", "a level between 0 and 1", fmt::format("{}", level));
}

/// Returns the ceil((t + 1) level)-th smallest of t scores, at most the largest; 0 of none.
double start_quantile(std::span<const double> scores, double level) {
  if (scores.empty()) return 0;
  std::vector<double> sorted(scores.begin(), scores.end());
  std::ranges::sort(sorted);
  const auto rank = static_cast<size_t>(std::ceil(static_cast<double>(sorted.size() + 1) * level));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

/// Returns what the integrator adds after t scores whose errors sum to `sum`; infinite if it is saturated.
double integrator(double sum, int64_t t, double scale) {
  const auto n = static_cast<double>(t + 1);
  const double angle = sum * std::log(n) / (kSaturation * n);
  if (std::abs(angle) >= std::numbers::pi / 2)
    return std::copysign(std::numeric_limits<double>::infinity(), angle);
  return scale * std::tan(angle);
}

}  // namespace

AdaptiveScores advanced(AdaptiveScores state, std::span<const double> scores) {
  for (const double score : scores) {
    check(std::isfinite(score) && score >= 0, "advanced", "finite scores from 0", "others");
    state.scores.push_back(std::min(score, kUncoverable));
  }
  state.seen += std::ssize(scores);
  if (const int64_t more = std::ssize(state.scores) - AdaptiveScores::kMost; more > 0)
    state.scores.erase(state.scores.begin(), state.scores.begin() + more);
  return state;
}

std::vector<double> adaptive_factors(std::span<const double> scores, double level) {
  check_adaptive_level(level);
  const double alpha = 1 - level;
  std::vector<double> factors;
  double tracked = 0, sum = 0;
  for (size_t t = 0; t <= scores.size(); ++t) {  // the factor after t scores
    if (std::cmp_less_equal(t, kAdaptiveStart)) {
      tracked = start_quantile(scores.first(t), level);
      factors.push_back(tracked);
      continue;
    }
    const double error = (scores[t - 1] > factors.back() ? 1.0 : 0.0) - alpha;
    const auto seen = scores.first(t);
    const double largest = std::ranges::max(seen.last(std::min<size_t>(t, kRecent)));
    sum += error;
    tracked += kRate * largest * error;
    const double factor = tracked + integrator(sum, static_cast<int64_t>(t), kIntegral * largest);
    factors.push_back(std::clamp(factor, -kUncoverable, kUncoverable));
  }
  return factors;
}

double adaptive_factor(const AdaptiveScores& state, double level) {
  return std::max(adaptive_factors(state.scores, level).back(), 0.0);
}

double adaptive_bound(int64_t m) {
  if (m <= kAdaptiveStart)
    refuse("adaptive_bound", fmt::format("more than {} scores", kAdaptiveStart), fmt::format("{}", m));
  const auto n = static_cast<double>(m + 1);
  return (n / std::log(n) + 1) / static_cast<double>(m - kAdaptiveStart);
}

double online_coverage(const AdaptiveScores& state, std::span<const double> scores, double level) {
  check(!scores.empty(), "online_coverage", "at least one score", "none");
  // No score is dropped on the way: the tracking is one replay.
  std::vector<double> all = state.scores;
  for (const double score : scores) {
    check(std::isfinite(score) && score >= 0, "online_coverage", "finite scores from 0", "others");
    all.push_back(std::min(score, kUncoverable));
  }
  const std::vector<double> factors = adaptive_factors(all, level);
  int64_t inside = 0;
  for (size_t t = state.scores.size(); t < all.size(); ++t) inside += all[t] <= factors[t] ? 1 : 0;
  return static_cast<double>(inside) / static_cast<double>(scores.size());
}

Interval adaptive_interval(const Regression& p, const AdaptiveScores& state, double level) {
  return interval_of_factor(p, adaptive_factor(state, level));
}

std::vector<double> plain_adaptive_levels(std::span<const double> scores, double level, double step) {
  check_adaptive_level(level);
  if (!(step > 0)) refuse("plain_adaptive_levels", "a step above 0", fmt::format("{}", step));
  std::vector<double> levels = {1 - level}, sorted;
  for (const double score : scores) {
    const double now = levels.back();
    const auto rank = static_cast<int64_t>(std::ceil(static_cast<double>(sorted.size() + 1) * (1 - now)));
    const bool none = now >= 1, all = now <= 0 || rank > std::ssize(sorted);
    const bool missed = none || (!all && score > sorted[static_cast<size_t>(std::max<int64_t>(rank, 1) - 1)]);
    levels.push_back(now + step * ((1 - level) - (missed ? 1.0 : 0.0)));
    sorted.insert(std::ranges::upper_bound(sorted, score), score);
  }
  return levels;
}

}  // namespace slimbayes
