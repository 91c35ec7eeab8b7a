// A float32 of at least 0, read as an integer, has the order of its value. So the first bits of that integer
// number bins in ascending order, each with nearly the same relative width.
#include "slimbayes/answers/score_bins.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr int64_t kDropped = 12;                               // bits of the mantissa that a bin leaves open
constexpr int64_t kScoreBins = int64_t{1} << (31 - kDropped);  // the sign is always 0

at::Tensor bins_of_scores(const at::Tensor& score) {
  const at::Tensor bits = score.to(at::kFloat).abs().contiguous().view(at::kInt);  // abs: -0 becomes 0
  return at::bitwise_right_shift(bits, at::full({}, kDropped, at::kInt)).to(at::kLong);
}

double total(const at::Tensor& counts) { return static_cast<double>(counts.sum().item<int64_t>()); }

}  // namespace

ScoreBins::ScoreBins()
    : rows_(at::zeros({kScoreBins}, at::kLong)),
      wrong_(at::zeros({kScoreBins}, at::kLong)),
      sum_(at::zeros({kScoreBins}, at::kDouble)) {}

void ScoreBins::add(const at::Tensor& score, const at::Tensor& wrong) {
  check_shape(wrong, score.sizes(), "ScoreBins::add", "wrong");
  check_finite(score, "ScoreBins::add", "score");
  check(score.ge(0).all().item<bool>(), "ScoreBins::add", "scores of at least 0", "a negative one");
  const at::Tensor bin = bins_of_scores(score);
  rows_.add_(at::bincount(bin, {}, kScoreBins));
  wrong_.add_(at::bincount(bin.masked_select(wrong), {}, kScoreBins));
  sum_.add_(at::bincount(bin, score.to(at::kDouble), kScoreBins));
}

int64_t ScoreBins::rows() const { return rows_.sum().item<int64_t>(); }

int64_t ScoreBins::wrong() const { return wrong_.sum().item<int64_t>(); }

ScoreBins::Auroc ScoreBins::auroc() const {
  const at::Tensor right = rows_ - wrong_, below = right.cumsum(0) - right;
  const double pairs = total(right) * total(wrong_);
  check(pairs > 0, "ScoreBins::auroc", "a wrong and a right row", "none");
  const at::Tensor w = wrong_.to(at::kDouble);
  const double wins = w.dot(below.to(at::kDouble)).item<double>(),
               ties = w.dot(right.to(at::kDouble)).item<double>();
  return {(wins + 0.5 * ties) / pairs, 0.5 * ties / pairs};
}

double ScoreBins::average_precision() const {
  const double positives = total(wrong_);
  check(positives > 0, "ScoreBins::average_precision", "a wrong row", "none");
  const auto at_least = [](const at::Tensor& counts) {
    return (counts.sum() - counts.cumsum(0) + counts).to(at::kDouble);
  };
  const at::Tensor precision = at_least(wrong_) / at_least(rows_).clamp_min(1);
  return wrong_.to(at::kDouble).dot(precision).item<double>() / positives;
}

Reliability ScoreBins::reliability(int64_t bins) const {
  if (!(bins > 0)) refuse("ScoreBins::reliability", "bins > 0", std::to_string(bins));
  const int64_t n = rows();
  check(n > 0, "ScoreBins::reliability", "at least one row", "none");
  const at::Tensor less_confident = n - rows_.cumsum(0);  // rows with larger scores
  const at::Tensor bin = at::floor_divide(less_confident * bins, n).clamp_max(bins - 1);
  const auto by_bin = [&](const at::Tensor& x) { return at::bincount(bin, x.to(at::kDouble), bins); };
  const at::Tensor all = by_bin(rows_).round().to(at::kLong), used = all.nonzero().squeeze(1);
  const at::Tensor held = all.index_select(0, used);
  const auto mean = [&](const at::Tensor& x) { return by_bin(x).index_select(0, used) / held; };
  return {1 - mean(sum_), 1 - mean(wrong_), held};
}

}  // namespace slimbayes
