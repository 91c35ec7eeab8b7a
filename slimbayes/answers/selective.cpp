// Selective prediction. The rows are sorted by uncertainty and the losses summed up in this order, so that
// the sum over the kept rows is a prefix sum. A tie is a block of rows with equal uncertainty.
// If the cut lies inside a block, each of its rows is kept with the same probability, so the block adds its
// sum times the share of it that is kept: the expectation over a random choice. Within a block the losses are
// sorted too, which fixes the order of the additions and with it the bits. Cost O(n log n).

#include "slimbayes/answers/selective.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/count_metrics.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// A metric that is the mean of a loss of each row, or the root of that mean.
struct RowMetric {
  std::string name;
  std::optional<std::vector<double>> KeptRowMetrics::*of;  // where its values stand
  at::Tensor loss;                                         // [n]
  bool root = false;
  bool larger_is_better = false;
};

/// Returns the metrics of numbers: the absolute error of one point and the squared error of another.
std::vector<RowMetric> of_errors(const at::Tensor& absolute, const at::Tensor& squared,
                                 const at::Tensor& nll) {
  return {{"mae", &KeptRowMetrics::mae, absolute.abs()},
          {"rmse", &KeptRowMetrics::rmse, squared.square(), /*root=*/true},
          {"nll", &KeptRowMetrics::nll, nll}};
}

std::vector<RowMetric> row_metrics(const Regression& p, const at::Tensor& y) {
  const at::Tensor nll = regression_row_nll(p, y);  // checks shapes and numbers
  return of_errors(y - median(p), y - p.mean, nll);
}

std::vector<RowMetric> row_metrics(const Counts& p, const at::Tensor& y) {
  const at::Tensor nll = count_row_nll(p, y);
  const at::Tensor error = y - mean(p);
  return of_errors(error, error, nll);
}

std::vector<RowMetric> row_metrics(const Classes& p, const at::Tensor& y) {
  const at::Tensor nll = class_row_nll(p, y);
  return {{"accuracy", &KeptRowMetrics::accuracy, (predicted_class(p) == y).to(at::kDouble), false,
           /*larger_is_better=*/true},
          {"nll", &KeptRowMetrics::nll, nll}};
}

std::vector<RowMetric> row_metrics(const Intensity&, const at::Tensor&) {
  refuse("selective_report", "an answer with a target for each row", "an intensity");
}

/// Returns the metrics by one score for each share, with the gain from the first share to the last.
KeptRowMetrics by_score(const std::vector<RowMetric>& metrics, const at::Tensor& uncertainty,
                        const at::Tensor& weight) {
  KeptRowMetrics out{(uncertainty == uncertainty.min()).all().item<bool>()};
  for (const RowMetric& metric : metrics) {
    std::vector<double> values =
        selective_means(uncertainty, metric.loss, {kSharesKept.begin(), kSharesKept.end()}, weight);
    if (metric.root) std::ranges::transform(values, values.begin(), [](double x) { return std::sqrt(x); });
    const double fall = values.front() - values.back(), gain = metric.larger_is_better ? -fall : fall;
    out.gain[metric.name] = gain;
    const bool has_zero = metric.of == &KeptRowMetrics::mae || metric.of == &KeptRowMetrics::rmse;
    if (has_zero && values.front() > 0) {
      if (!out.gain_share) out.gain_share.emplace();
      (*out.gain_share)[metric.name] = gain / values.front();
    }
    out.*metric.of = std::move(values);
  }
  return out;
}

/// Returns selective_means() of rows with weights: `sorted` uncertainties [n] in ascending order, the losses
/// and the weights of the same rows.
std::vector<double> weighted_means(const at::Tensor& sorted, const at::Tensor& losses,
                                   const at::Tensor& weight, const std::vector<double>& shares) {
  const at::Tensor mass = weight_before(weight), sums = weight_before(losses * weight);
  const auto at = [](const at::Tensor& x, int64_t i) { return x[i].item<double>(); };
  const int64_t n = sorted.size(0);
  std::vector<double> means;
  for (double share : shares) {
    rows_kept(share, n);  // checks the share
    const double kept = share * at(mass, n);
    // The last kept row is the first that fills the kept weight up; 1 - 1e-12 keeps rounding from adding one.
    const at::Tensor wanted = at::full({1}, kept * (1 - 1e-12), at::kDouble);
    const int64_t last =
        std::min(n - 1, at::searchsorted(mass.slice(0, 1), wanted, false, false).item<int64_t>());
    const at::Tensor cut = sorted.slice(0, last, last + 1);
    const auto begin = at::searchsorted(sorted, cut, false, /*right=*/false).item<int64_t>();
    const auto end = at::searchsorted(sorted, cut, false, /*right=*/true).item<int64_t>();
    if (begin == 0) {
      means.push_back(at(sums, end) / at(mass, end));
      continue;
    }
    const double part = std::min(1.0, (kept - at(mass, begin)) / (at(mass, end) - at(mass, begin)));
    means.push_back((at(sums, begin) + part * (at(sums, end) - at(sums, begin))) / kept);
  }
  return means;
}

}  // namespace

int64_t rows_kept(double share, int64_t n) {
  if (!(share > 0 && share <= 1))
    refuse("rows_kept", "a share above 0 and at most 1", fmt::format("{}", share));
  check(n > 0, "rows_kept", "at least one row", "none");
  // The factor 1 - 1e-12 keeps rounding from adding a row.
  return static_cast<int64_t>(std::ceil(share * static_cast<double>(n) * (1 - 1e-12)));
}

std::vector<double> selective_means(const at::Tensor& uncertainty, const at::Tensor& loss,
                                    const std::vector<double>& shares, const at::Tensor& weight) {
  constexpr const char* kMeans = "selective_means";
  check_shape(uncertainty, {-1}, kMeans, "uncertainty");
  const int64_t n = uncertainty.size(0);
  check(n > 0, kMeans, "at least one row", "none");
  check_shape(loss, {n}, kMeans, "loss");
  check_finite(uncertainty, kMeans, "uncertainty");
  check_finite(loss, kMeans, "loss");
  const auto [losses, by_loss] = loss.to(at::kDouble).sort();
  const auto [sorted, order] = uncertainty.to(at::kDouble)
                                   .index_select(0, by_loss)
                                   .sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  if (const at::Tensor w = checked_weight(weight, n, kMeans); w.defined())
    return weighted_means(sorted, losses.index_select(0, order),
                          w.index_select(0, by_loss).index_select(0, order), shares);
  const at::Tensor sums = losses.index_select(0, order).cumsum(0);
  const auto sum_of_first = [&](int64_t k) { return k == 0 ? 0.0 : sums[k - 1].item<double>(); };
  std::vector<double> means;
  for (double share : shares) {
    const int64_t k = rows_kept(share, n);
    const at::Tensor cut = sorted.slice(0, k - 1, k);  // the uncertainty of the last kept row
    const auto begin = at::searchsorted(sorted, cut, false, /*right=*/false).item<int64_t>();
    const auto end = at::searchsorted(sorted, cut, false, /*right=*/true).item<int64_t>();
    if (begin == 0) {  // the mean over the first tie, with the same bits for every share within it
      means.push_back(sum_of_first(end) / static_cast<double>(end));
      continue;
    }
    const double before = sum_of_first(begin), tied = sum_of_first(end) - before;
    const double part = static_cast<double>(k - begin) / static_cast<double>(end - begin);
    means.push_back((before + part * tied) / static_cast<double>(k));
  }
  return means;
}

SelectiveReport selective_report(const Predictive& p, const at::Tensor& y, const Scores& uncertainty,
                                 const at::Tensor& weight) {
  const at::Tensor target = y.to(at::kDouble);
  const std::vector<RowMetric> metrics =
      std::visit([&](const auto& one) { return row_metrics(one, target); }, p);
  SelectiveReport report;
  report.share.assign(kSharesKept.begin(), kSharesKept.end());
  for (double share : kSharesKept) report.rows.push_back(rows_kept(share, y.size(0)));
  for (const auto& [name, score] : uncertainty) report.by[name] = by_score(metrics, score, weight);
  return report;
}

}  // namespace slimbayes
