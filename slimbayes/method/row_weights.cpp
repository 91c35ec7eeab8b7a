#include "slimbayes/method/row_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "slimbayes/answers/row_mean.h"

namespace slimbayes {

namespace {

/// The rows in ascending order, row i as often as its weight says. Weights whose mean is below 1 are divided
/// by it, so that there are as many places as rows (method/row_weights.h).
class WeightedOrder {
 public:
  WeightedOrder(const at::Tensor& x, const at::Tensor& weights) {
    const auto [values, order] = x.to(at::kDouble).sort();
    values_ = values;
    const double scale = std::max(1.0, static_cast<double>(x.numel()) / total_of(weights, x.numel()));
    ends_ = (scale * weights).index_select(0, order).cumsum(0);
    // An end that only rounding keeps from being whole would move the place beside it to another row.
    const double slack = std::min(1e-3, 1e-11 * total());
    ends_ = at::where((ends_ - ends_.round()).abs() <= slack, ends_.round(), ends_);
  }

  double total() const { return ends_[ends_.size(0) - 1].item<double>(); }

  /// Returns the numbers at these places, from 0 for the least. A place beyond the last one gives the
  /// largest.
  at::Tensor at(const at::Tensor& places) const {
    const at::Tensor which = at::searchsorted(ends_, places, false, /*right=*/true);
    return values_.index_select(0, which.clamp_max(values_.size(0) - 1));
  }

 private:
  at::Tensor values_, ends_;  // ends_: of the places of each number
};

}  // namespace

double total_of(const at::Tensor& weights, int64_t n) { return total_weight(weights, n); }

double effective_rows(const at::Tensor& weights, int64_t n) {
  return weights.defined() ? effective_rows(weights) : static_cast<double>(n);
}

MeanWithError mean_with_error(const at::Tensor& x, const at::Tensor& weights) {
  const double n = effective_rows(weights, x.numel()), mean = weighted_mean(x, weights);
  if (!(n > 1)) return {mean, std::numeric_limits<double>::infinity()};
  if (!weights.defined()) return {mean, x.std().item<double>() / std::sqrt(n)};
  return {mean, std::sqrt(weighted_var(x, weights) / (n - 1))};
}

double weighted_var(const at::Tensor& x, const at::Tensor& weights) {
  if (!weights.defined()) return at::var(x, /*unbiased=*/false).item<double>();
  const at::Tensor own = x.to(at::kDouble);
  return weighted_mean((own - weighted_mean(own, weights)).square(), weights);
}

double weighted_median(const at::Tensor& x, const at::Tensor& weights) {
  if (!weights.defined()) return x.median().item<double>();
  const WeightedOrder order(x, weights);
  const double place = std::floor((order.total() - 1) / 2);
  return order.at(at::full({1}, place, at::kDouble)).item<double>();
}

at::Tensor weighted_quantiles(const at::Tensor& x, const at::Tensor& weights, const at::Tensor& at) {
  if (!weights.defined()) return at::quantile(x, at);
  const WeightedOrder order(x, weights);
  const at::Tensor place = at * (order.total() - 1), below = place.floor();
  return at::lerp(order.at(below), order.at(below + 1), place - below);
}

}  // namespace slimbayes
