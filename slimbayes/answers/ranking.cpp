// Ranking metrics. They sort the scores and count by binary search how many lie below a given score, so ties
// are exact. Cost O(n log n).

#include "slimbayes/answers/ranking.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

// Returns the scores in ascending order in float64. Throws std::invalid_argument unless they have shape [n],
// n > 0, and are finite.
at::Tensor sorted_scores(const at::Tensor& scores, const char* function) {
  check_shape(scores, {-1}, function, "scores");
  check(scores.size(0) > 0, function, "at least one score on each side", "none");
  check_finite(scores, function, "scores");
  return std::get<0>(scores.to(at::kDouble).sort());
}

// Returns for each of `values` how many of the `sorted` scores are smaller, or, if `right`, how many are
// smaller or equal.
at::Tensor count_below(const at::Tensor& sorted, const at::Tensor& values, bool right) {
  return at::searchsorted(sorted, values, /*out_int32=*/false, right);
}

/// Scores in ascending order with their weights, of which each is 1 if `weight` is undefined.
struct WeighedScores {
  at::Tensor score, weight, before;  // [n], [n] and weight_before() [n + 1]

  double total() const { return before[-1].item<double>(); }
  /// Returns the weight of the scores below each of `values`, or, if `right`, of those below or equal.
  at::Tensor below(const at::Tensor& values, bool right) const {
    return before.index_select(0, count_below(score, values, right));
  }
};

WeighedScores weighed(const at::Tensor& scores, const at::Tensor& weight, const char* function) {
  sorted_scores(scores, function);  // checks them
  const auto [sorted, order] = scores.to(at::kDouble).sort();
  const at::Tensor own = weight.defined()
                             ? checked_weight(weight, scores.size(0), function).index_select(0, order)
                             : at::ones_like(sorted);
  return {sorted, own, weight_before(own)};
}

}  // namespace

double auroc(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
             const at::Tensor& negative_weight, const at::Tensor& positive_weight) {
  if (negative_weight.defined() || positive_weight.defined()) {
    const WeighedScores no = weighed(negative_scores, negative_weight, "auroc"),
                        yes = weighed(positive_scores, positive_weight, "auroc");
    const at::Tensor twice_wins = no.below(yes.score, false) + no.below(yes.score, true);
    return 0.5 * yes.weight.dot(twice_wins).item<double>() / (no.total() * yes.total());
  }
  at::Tensor negative = sorted_scores(negative_scores, "auroc");
  at::Tensor positive = sorted_scores(positive_scores, "auroc");
  at::Tensor twice_wins = count_below(negative, positive, false) + count_below(negative, positive, true);
  double wins = 0.5 * static_cast<double>(twice_wins.sum().item<int64_t>());
  return wins / (static_cast<double>(negative.size(0)) * static_cast<double>(positive.size(0)));
}

double auroc_sd(int64_t negatives, int64_t positives) {
  const auto n = static_cast<double>(negatives), m = static_cast<double>(positives);
  return std::sqrt((n + m + 1) / (12 * n * m));
}

// The recall grows by 1 / (number of positives) at each positive, so the average precision is the mean over
// the positives of the precision with the positive's own score as the threshold.
double average_precision(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
                         const at::Tensor& negative_weight, const at::Tensor& positive_weight) {
  if (negative_weight.defined() || positive_weight.defined()) {
    const WeighedScores no = weighed(negative_scores, negative_weight, "average_precision"),
                        yes = weighed(positive_scores, positive_weight, "average_precision");
    const at::Tensor right = yes.total() - yes.below(yes.score, false),
                     wrong = no.total() - no.below(yes.score, false);
    return yes.weight.dot(right / (right + wrong)).item<double>() / yes.total();
  }
  at::Tensor negative = sorted_scores(negative_scores, "average_precision");
  at::Tensor positive = sorted_scores(positive_scores, "average_precision");
  at::Tensor right = (positive.size(0) - count_below(positive, positive, false)).to(at::kDouble);
  at::Tensor wrong = (negative.size(0) - count_below(negative, positive, false)).to(at::kDouble);
  return (right / (right + wrong)).mean().item<double>();
}

double false_positive_rate(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
                           double recall) {
  constexpr const char* kRate = "false_positive_rate";
  if (!(recall > 0 && recall <= 1))
    refuse(kRate, "a recall above 0 and at most 1", fmt::format("{}", recall));
  const at::Tensor negative = sorted_scores(negative_scores, kRate);
  const at::Tensor positive = sorted_scores(positive_scores, kRate);
  const int64_t n = positive.size(0);
  // The threshold is the k-th largest score of a positive, where k positives are the fewest that make up the
  // share `recall`. The factor 1 - 1e-12 keeps rounding from raising k by 1.
  const auto k = static_cast<int64_t>(std::ceil(recall * static_cast<double>(n) * (1 - 1e-12)));
  const at::Tensor threshold = positive.slice(0, n - k, n - k + 1);
  const auto rejected = count_below(negative, threshold, false).item<int64_t>();
  return 1 - static_cast<double>(rejected) / static_cast<double>(negative.size(0));
}

double true_positive_rate(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
                          double alarms) {
  constexpr const char* kRate = "true_positive_rate";
  if (!(alarms >= 0 && alarms < 1))
    refuse(kRate, "a share of false alarms of at least 0 and below 1", fmt::format("{}", alarms));
  const at::Tensor negative = sorted_scores(negative_scores, kRate);
  const at::Tensor positive = sorted_scores(positive_scores, kRate);
  const int64_t n = negative.size(0), m = positive.size(0);
  // At most k negatives may be alarms, so the (k + 1)-th largest must not be one. The factor 1 + 1e-12 keeps
  // rounding from lowering k by 1.
  const auto k = static_cast<int64_t>(std::floor(alarms * static_cast<double>(n) * (1 + 1e-12)));
  const at::Tensor quiet = negative.slice(0, n - 1 - k, n - k);
  const auto missed = count_below(positive, quiet, true).item<int64_t>();
  return static_cast<double>(m - missed) / static_cast<double>(m);
}

}  // namespace slimbayes
