// Metrics of counts. Even if the model is right, the coverage of an interval of counts is usually above its
// level, because the ends of the interval must be whole numbers.

#include "slimbayes/answers/count_metrics.h"

#include <ATen/ATen.h>

#include <cmath>

#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

at::Tensor checked(const Counts& p, const at::Tensor& y, const char* function) {
  check_shape(y, {-1}, function, "y");
  check(y.size(0) > 0, function, "at least one row", "none");
  check_shape(p.rate.log_mean, {y.size(0)}, function, "log_mean");
  check_shape(p.rate.log_var, {y.size(0)}, function, "log_var");
  check_counts(y, function);
  return y.to(at::kDouble);
}

/// Returns the NLL, mean over y [n], of one Poisson distribution with rate mean(y) for every row. It is the
/// baseline nll_constant.
double constant_nll(const at::Tensor& y, const at::Tensor& weight) {
  if (weight.defined()) {
    const double rate = row_mean(y, weight, "counts_report");
    return rate - (rate > 0 ? rate * std::log(rate) : 0) +
           row_mean(at::lgamma(y + 1), weight, "counts_report");
  }
  at::Tensor rate = y.mean();
  return (rate - at::xlogy(rate, rate) + at::lgamma(y + 1).mean()).item<double>();
}

}  // namespace

at::Tensor count_row_nll(const Counts& p, const at::Tensor& y) {
  return -count_log_prob(p, checked(p, y, "count_nll"));
}

double count_nll(const Counts& p, const at::Tensor& y, const at::Tensor& weight) {
  return row_mean(count_row_nll(p, y), weight, "count_nll");
}

Evaluation counts_report(const Counts& p, const at::Tensor& y, double level, const at::Tensor& weight) {
  constexpr const char* kReport = "counts_report";
  at::Tensor target = checked(p, y, "counts_report"), centre = mean(p), error = target - centre;
  Interval i = interval(p, level);
  check_finite(centre, "counts_report", "mean rates");
  check_finite(i.upper, "counts_report", "intervals");
  Evaluation out{.n = y.size(0),
                 .nll = count_nll(p, y, weight),
                 .nll_constant = constant_nll(target, weight),
                 .coverage = coverage(i, target, weight),
                 .numbers = NumberScores{.mae = row_mean(error.abs(), weight, kReport),
                                         .rmse = std::sqrt(row_mean(error.square(), weight, kReport)),
                                         .width = interval_width(i, weight),
                                         .interval_score = interval_score(i, target, level, weight)}};
  set_weight(weight, out);
  return out;
}

}  // namespace slimbayes
