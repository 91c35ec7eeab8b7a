#include "slimbayes/answers/conditional/row_scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr const char* kRowScores = "row_scores";

/// Returns the most by which rounding of the ends changes a width. Intervals of one width around different
/// means have widths that differ by it.
double rounding_of(const Interval& interval) {
  const at::Tensor ends = at::cat({interval.lower, interval.upper}).abs();
  const at::Tensor finite = ends.masked_select(ends.isfinite());
  if (finite.numel() == 0) return 0;
  return 4 * std::numeric_limits<double>::epsilon() * finite.max().item<double>();
}

}  // namespace

RowScores row_scores(const Predictive& p, const at::Tensor& y, const std::optional<Interval>& interval,
                     const std::optional<PredictionSet>& set, const at::Tensor& weight) {
  check_shape(y, {row_count(p)}, kRowScores, "y");
  RowScores out;
  out.nll = row_nll(p, y);
  out.weight = checked_weight(weight, y.size(0), kRowScores);
  if (const auto* classes = std::get_if<Classes>(&p)) {
    out.right = (classes->probabilities.argmax(1) == y).to(at::kDouble);
    if (!set) return out;
    check_shape(*set, classes->probabilities.sizes(), kRowScores, "set");
    out.covered = set->gather(1, y.to(at::kLong).unsqueeze(1)).squeeze(1).to(at::kDouble);
    out.size = set->sum(1).to(at::kDouble);
    return out;
  }
  const at::Tensor target = y.to(at::kDouble);
  const auto* numbers = std::get_if<Regression>(&p);
  const at::Tensor center = numbers != nullptr ? numbers->mean : mean(std::get<Counts>(p));
  out.squared_error = (target - center).square();
  if (!interval) return out;
  check_shape(interval->lower, target.sizes(), kRowScores, "lower");
  check_shape(interval->upper, target.sizes(), kRowScores, "upper");
  out.covered = ((interval->lower <= target) & (target <= interval->upper)).to(at::kDouble);
  out.size = interval->upper - interval->lower;
  out.size_error = rounding_of(*interval);
  return out;
}

RowScores take(const RowScores& scores, const at::Tensor& rows) {
  const auto some = [&](const at::Tensor& x) { return x.defined() ? x.index_select(0, rows) : x; };
  return {some(scores.covered), some(scores.size),   some(scores.nll), some(scores.squared_error),
          some(scores.right),   some(scores.weight), scores.size_error};
}

}  // namespace slimbayes
