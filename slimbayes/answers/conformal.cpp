// Split conformal intervals, scaled by the predictive sd.
//
// Problem     The sd of a model may be too small or too large everywhere. Its intervals then contain the
//             target less or more often than their level says.
// Method      Compute the score s = |y - mean| / sd of each of the m rows held out for calibration. If a new
//             row is exchangeable with these m, the rank of its score among all m + 1 is uniform, so its
//             score is at most the k-th smallest with probability of at least k / (m + 1). With
//             k = ceil((m + 1) level), the interval mean -+ s_(k) sd therefore has that level, whatever the
//             model, the noise or m (Vovk, Gammerman and Shafer 2005; Lei et al. 2018, section 5.2 for the
//             scaling). Without ties the coverage exceeds the level by less than 1 / (m + 1).
// Repeats     Several rows with identical inputs are not exchangeable with a row of another input, but groups
//             of identical inputs are exchangeable with each other. Each row of a group of n rows weighs
//             1 / n, so each group weighs 1. The new group also weighs 1, with an infinite score. The
//             quantile of the scores under these weights covers a row drawn from a new group (Lee, Barber and
//             Willett 2023, hierarchical conformal prediction). If each group has one row, the quantile is
//             s_(k) above. Inputs that differ only in the last digit form different groups and count as if
//             they were independent; the coverage may then be below the level.
// Weights     Calibration rows may be rarer or more frequent than the rows to answer. Each score then has a
//             weight in the quantile (Tibshirani et al. 2019); conformal_weights() says which, and what is
//             assumed of the new row.
// Densities   An answer with a density of its own (answers/density.h) has the score |z|, where Phi(z) is the
//             predictive cdf at y, and the interval between the quantiles at -+ factor (Chernozhukov,
//             Wuethrich and Zhu 2021, distributional conformal prediction). For a Gaussian both are as above.
// Limits      The probability is taken over the calibration rows too: once they are given, the coverage is
//             distributed as Beta(k, m + 1 - k). It holds on average over rows, not for every x. If k exceeds
//             m, no finite interval has the level.
// Cost        O(m log m) once to sort the scores, then O(1) per level (O(m) if inputs repeat).
#include "slimbayes/answers/conformal.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/density/conformal_rank.h"

namespace slimbayes {

namespace {

/// Returns the half-width of an interval, slightly widened. The coverage guarantee counts a row whose score
/// equals the factor as covered, but that row lies exactly on the end of the interval, and rounding may put
/// it outside: mean -+ half rounds by half a unit in the last place, and the last bits of mean and sd differ
/// between batch sizes and processors. [n]
at::Tensor widened(const at::Tensor& half, const at::Tensor& mean) {
  return half * (1 + 1e-9) + 4 * std::numeric_limits<double>::epsilon() * mean.abs();
}

}  // namespace

at::Tensor unsorted_scores(const Regression& p, const at::Tensor& y) {
  constexpr const char* kFunction = "conformal_scores";
  check_shape(y, {-1}, kFunction, "y");
  const int64_t m = y.size(0);
  check(m > 0, kFunction, "at least one calibration row", "none");
  const at::Tensor variance = total_var(p).to(at::kDouble);
  check_shape(p.mean, {m}, kFunction, "mean");
  check_shape(variance, {m}, kFunction, "variance");
  check_finite(y, kFunction, "y");
  check_finite(p.mean, kFunction, "mean");
  check_finite(variance, kFunction, "variance");
  const int64_t certain = (variance <= 0).sum().item<int64_t>();
  if (certain != 0)
    refuse(kFunction, "a predictive sd above 0 in every calibration row",
           fmt::format("{} of {} rows with an sd of 0", certain, m),
           "no factor widens an interval of width 0");
  const at::Tensor scores = p.density.empty() ? (y.to(at::kDouble) - p.mean).abs() / variance.sqrt()
                                              : normal_score(p, y).abs().clamp_max(kUncoverable);
  check_finite(scores, kFunction, "scores");  // the ratio overflows if sd is tiny
  // No factor covers a target beyond the ends that an interval may have.
  return at::where((y < p.least).logical_or(y > p.most), kUncoverable, scores);
}

ConformalScores::ConformalScores(const at::Tensor& scores)
    : ConformalScores(scores, at::arange(scores.numel(), at::kLong)) {}

ConformalScores::ConformalScores(at::Tensor scores, const at::Tensor& of) : value(std::move(scores)) {
  check_shape(value, {-1}, "ConformalScores", "scores");
  check_shape(of, {value.size(0)}, "ConformalScores", "group");
  check((value.diff() >= 0).all().item<bool>(), "ConformalScores", "scores in ascending order", "others");
  const auto [numbers, inverse, counts] = at::_unique2(of, true, true);
  group = inverse;
  groups = numbers.size(0);
}

at::Tensor conformal_scores(const Regression& p, const at::Tensor& y) {
  return std::get<0>(unsorted_scores(p, y).sort());
}

ConformalScores conformal_scores(const Regression& p, const at::Tensor& y, const std::vector<int64_t>& group,
                                 const at::Tensor& weight) {
  return sorted_scores(unsorted_scores(p, y), group, weight);
}

at::Tensor conformal_weights(const at::Tensor& weight, const std::vector<int64_t>& group,
                             ConformalWeight kind) {
  constexpr const char* kFunction = "conformal_weights";
  check(weight.defined(), kFunction, "a weight for each calibration row", "none");
  const at::Tensor w = checked_weight(weight, std::ssize(group), kFunction);
  if (kind == ConformalWeight::counts_of_rows) return w;
  const auto [numbers, of, rows] = at::_unique2(at::tensor(group, at::kLong), true, true, true);
  if (kind == ConformalWeight::counts) return w / at::bincount(of, w).index_select(0, of);
  const at::Tensor share = w / rows.to(at::kDouble).index_select(0, of);
  return share * (static_cast<double>(numbers.size(0)) / share.sum());
}

ConformalScores sorted_scores(const at::Tensor& scores, const std::vector<int64_t>& group,
                              const at::Tensor& weight) {
  const at::Tensor groups = at::tensor(group, at::kLong);
  check_shape(groups, {scores.size(0)}, "conformal_scores", "group");
  const auto [sorted, order] = scores.sort();
  ConformalScores out(sorted, groups.index_select(0, order));
  if (const at::Tensor w = checked_weight(weight, scores.size(0), "conformal_scores"); w.defined())
    out.weight = w.index_select(0, order);
  return out;
}

std::pair<double, double> coverage_range(const ConformalScores& scores, double level) {
  if (!scores.weight.defined()) return coverage_range(scores.groups, level);
  const double rows = effective_rows(at::bincount(scores.group, scores.weight, scores.groups));
  return coverage_range(std::max<int64_t>(std::llround(rows), conformal_rows(level)), level);
}

std::pair<double, double> coverage_range(int64_t groups, double level) {
  check_conformal_rows(groups, level, groups);
  const auto k = static_cast<double>(conformal_rank(groups, level)), m = static_cast<double>(groups);
  const boost::math::beta_distribution<> coverage(k, m + 1 - k);
  return {boost::math::quantile(coverage, 0.05), boost::math::quantile(coverage, 0.95)};
}

double conformal_factor(const ConformalScores& scores, double level) {
  const at::Tensor value = scores.value.to(at::kDouble).contiguous(), group = scores.group.contiguous();
  const at::Tensor weight = scores.weight.defined() ? scores.weight.contiguous() : scores.weight;
  const auto m = static_cast<size_t>(value.numel());
  return conformal_factor(
      {value.const_data_ptr<double>(), m}, {group.const_data_ptr<int64_t>(), m}, scores.groups, level,
      weight.defined() ? std::span(weight.const_data_ptr<double>(), m) : std::span<const double>());
}

Interval conformal_interval(const Regression& p, const ConformalScores& scores, double level) {
  return interval_of_factor(p, conformal_factor(scores, level));
}

Interval interval_of_factor(const Regression& p, double factor) {
  Interval range;
  if (p.density.empty()) {
    const at::Tensor half = widened(factor * total_var(p).sqrt(), p.mean);
    range = {p.mean - half, p.mean + half};
  } else {
    const double z = factor * (1 + 1e-9);
    const at::Tensor lower = quantile(p, -z), upper = quantile(p, z);
    const double rounding = 4 * std::numeric_limits<double>::epsilon();
    range = {lower - rounding * lower.abs(), upper + rounding * upper.abs()};
  }
  return {within(p, range.lower), within(p, range.upper)};
}

int64_t ConformalScores::units() const {
  if (!weight.defined()) return groups;
  return static_cast<int64_t>(std::floor(weight.sum().item<double>() * (1 + 1e-10)));  // as weighted_factor()
}

ConformalScores scores_of_group(const ConformalScores& all, const GroupCalibration& groups, int64_t group) {
  check(group >= 0 && group < std::ssize(groups.cells), "scores_of_group", "a group of the calibration",
        "another");
  const at::Tensor own = (groups.of == group).nonzero().flatten();
  ConformalScores out(all.value.index_select(0, own), all.group.index_select(0, own));
  if (groups.weight.defined()) out.weight = groups.weight.index_select(0, own);
  return out;
}

bool suffices(const ConformalScores& own, double level) { return own.units() >= conformal_rows(level); }

}  // namespace slimbayes
