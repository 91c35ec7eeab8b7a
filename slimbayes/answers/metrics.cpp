// Metrics of the predictives of a regression.
//
// NLL, CRPS and interval score are proper scores (Gneiting and Raftery, Strictly proper scoring rules,
// prediction, and estimation, JASA 2007): the true distribution has the best expected score. The interval
// score is the width of the interval plus 2 / (1 - level) times the distance of y from the
// interval.

#include "slimbayes/answers/metrics.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {

namespace {

// Returns y in float64 after checking that p and y have the same number of rows, at least one, and that y and
// the means are finite. Otherwise throws std::invalid_argument. [n]
at::Tensor checked(const Regression& p, const at::Tensor& y, const char* function) {
  check_shape(y, {-1}, function, "y");
  int64_t n = y.size(0);
  check(n > 0, function, "at least one row", "none");
  check_shape(p.mean, {n}, function, "mean");
  check_shape(p.aleatoric_var, {n}, function, "aleatoric_var");
  check_shape(p.epistemic_var, {n}, function, "epistemic_var");
  check_finite(y, function, "y");
  check_finite(p.mean, function, "mean");
  return y.to(at::kDouble);
}

at::Tensor checked(const Interval& i, const at::Tensor& y, const char* function) {
  check_shape(y, {-1}, function, "y");
  check(y.size(0) > 0, function, "at least one row", "none");
  check_shape(i.lower, {y.size(0)}, function, "lower");
  check_shape(i.upper, {y.size(0)}, function, "upper");
  check_finite(y, function, "y");
  return y.to(at::kDouble);
}

/// Returns |normal_score| of each row, of a Gaussian |y - mean| / sd. For a row of variance 0 it is 0 if y
/// equals the mean, else infinite. [n]
at::Tensor distances(const Regression& p, const at::Tensor& y, const char* function) {
  if (!p.density.empty()) return normal_score(p, y).abs();
  const at::Tensor residual = (checked(p, y, function) - p.mean).abs(), var = total_var(p).to(at::kDouble);
  check_finite(var, function, "variance");
  check((var >= 0).all().item<bool>(), function, "variances of at least 0", "a negative one");
  const at::Tensor certain = at::where(residual == 0, 0.0, std::numeric_limits<double>::infinity());
  return at::where(var > 0, residual / var.sqrt(), certain);
}

/// Returns the sd of y [n] around its mean, both by the weights.
double sd_of(const at::Tensor& y, const at::Tensor& weight) {
  if (!weight.defined()) return y.std(/*unbiased=*/false).item<double>();
  const double mean = row_mean(y, weight, "regression_report");
  return std::sqrt(row_mean((y - mean).square(), weight, "regression_report"));
}

}  // namespace

double mean_absolute_error(const Regression& p, const at::Tensor& y, const at::Tensor& weight) {
  constexpr const char* kError = "mean_absolute_error";
  return row_mean((checked(p, y, kError) - median(p)).abs(), weight, kError);
}

double root_mean_squared_error(const Regression& p, const at::Tensor& y, const at::Tensor& weight) {
  constexpr const char* kError = "root_mean_squared_error";
  return std::sqrt(row_mean((checked(p, y, kError) - p.mean).square(), weight, kError));
}

double crps(const Regression& p, const at::Tensor& y, const at::Tensor& weight) {
  return row_mean(regression_row_crps(p, y), weight, "crps");
}

double coverage(const Interval& i, const at::Tensor& y, const at::Tensor& weight) {
  at::Tensor target = checked(i, y, "coverage");
  return row_mean(((i.lower <= target) & (target <= i.upper)).to(at::kDouble), weight, "coverage");
}

double interval_width(const Interval& i, const at::Tensor& weight) {
  check_shape(i.lower, {-1}, "interval_width", "lower");
  check(i.lower.size(0) > 0, "interval_width", "at least one row", "none");
  check_shape(i.upper, i.lower.sizes(), "interval_width", "upper");
  return row_mean(i.upper - i.lower, weight, "interval_width");
}

double interval_score(const Interval& i, const at::Tensor& y, double level, const at::Tensor& weight) {
  check_level(level, "interval_score");
  at::Tensor target = checked(i, y, "interval_score");
  at::Tensor outside = (i.lower - target).clamp_min(0) + (target - i.upper).clamp_min(0);
  return row_mean(i.upper - i.lower + 2 / (1 - level) * outside, weight, "interval_score");
}

double coverage(const Regression& p, const at::Tensor& y, double level, const at::Tensor& weight) {
  return coverage(interval(p, level), checked(p, y, "coverage"), weight);
}

double interval_width(const Regression& p, double level, const at::Tensor& weight) {
  return interval_width(interval(p, level), weight);
}

double interval_score(const Regression& p, const at::Tensor& y, double level, const at::Tensor& weight) {
  return interval_score(interval(p, level), checked(p, y, "interval_score"), level, weight);
}

double probability_of_misses(int64_t misses, int64_t n, double level) {
  if (!(level > 0 && level < 1)) refuse("probability_of_misses", "0 < level < 1", fmt::format("{}", level));
  if (!(misses >= 0 && misses <= n))
    refuse("probability_of_misses", "0 <= misses <= n", fmt::format("{} of {}", misses, n));
  if (misses == 0) return 1;
  // The tail of a binomial variable X is P(X >= k) = I_p(k, n - k + 1), where I is the regularised incomplete
  // beta function and p = 1 - level.
  const auto k = static_cast<double>(misses);
  return boost::math::ibeta(k, static_cast<double>(n) - k + 1, 1 - level);
}

at::Tensor pit_histogram(const Regression& p, const at::Tensor& y, int64_t bins, const at::Tensor& weight) {
  if (!(bins > 0)) refuse("pit_histogram", "bins > 0", std::to_string(bins));
  at::Tensor pit = at::special_ndtr(normal_score(p, y));
  at::Tensor bin = (pit * bins).floor().clamp(0, bins - 1).to(at::kLong);
  const at::Tensor w = checked_weight(weight, y.size(0), "pit_histogram");
  if (w.defined()) return at::bincount(bin, w, bins) / w.sum();
  return at::bincount(bin, {}, bins).to(at::kDouble) / y.size(0);
}

CalibrationCurve calibration_curve(const Regression& p, const at::Tensor& y, int64_t points,
                                   const at::Tensor& weight) {
  if (!(points > 0)) refuse("calibration_curve", "points > 0", std::to_string(points));
  const auto [distance, order] = distances(p, y, "calibration_curve").sort();
  at::Tensor level = at::arange(1, points + 1, at::kDouble) / (points + 1);
  at::Tensor radius = at::empty_like(level);
  for (int64_t i = 0; i < points; ++i) radius[i] = normal_quantile((1 + level[i].item<double>()) / 2);
  at::Tensor inside = at::searchsorted(distance, radius, /*out_int32=*/false, /*right=*/true);
  at::Tensor share = inside.to(at::kDouble) / y.size(0);
  if (const at::Tensor w = checked_weight(weight, y.size(0), "calibration_curve"); w.defined()) {
    const at::Tensor before = weight_before(w.index_select(0, order));
    share = before.index_select(0, inside) / before[-1];
  }
  return {level, share, (share - level).abs().mean().item<double>()};
}

Regression epistemic_part(const Regression& p) {
  return {p.mean, at::zeros_like(p.aleatoric_var), p.epistemic_var, p.zeroed};
}

std::optional<EpistemicReport> epistemic_report(const Regression& p, const at::Tensor& y, double target_sd,
                                                double level, const at::Tensor& weight) {
  checked(p, y, "epistemic_report");
  if (!(target_sd > 0 && std::isfinite(target_sd)))
    refuse("epistemic_report", "a finite target_sd > 0", std::to_string(target_sd));
  check_finite(p.epistemic_var, "epistemic_report", "epistemic_var");
  if (!(p.epistemic_var > 0).any().item<bool>()) return std::nullopt;
  const Interval i = interval(epistemic_part(p), level);
  const double width = interval_width(i, weight);
  return EpistemicReport{coverage(i, y, weight), width, width / target_sd};
}

Evaluation regression_report(const Regression& p, const at::Tensor& y, double target_sd, double level,
                             const at::Tensor& weight) {
  return regression_report(p, y, target_sd, {level, interval(p, level)}, weight);
}

Evaluation regression_report(const Regression& p, const at::Tensor& y, double target_sd,
                             const LevelInterval& given, const at::Tensor& weight) {
  const auto& [level, i] = given;
  if (!(target_sd > 0 && std::isfinite(target_sd)))
    refuse("regression_report", "a finite target_sd > 0", std::to_string(target_sd),
           "a constant target has no standardised scale: pass 1");
  Evaluation out{.n = y.size(0)};
  NumberScores& scores = out.numbers.emplace();
  scores.mae = mean_absolute_error(p, y, weight);
  scores.rmse = root_mean_squared_error(p, y, weight);
  out.nll = regression_nll(p, y, weight);
  scores.crps = crps(p, y, weight);
  scores.width = interval_width(i, weight);
  out.coverage = coverage(i, y, weight);
  scores.interval_score = interval_score(i, y, level, weight);
  set_weight(weight, out);
  StandardizedScores& standardized = scores.standardized.emplace();
  standardized = {.mae = scores.mae / target_sd,
                  .rmse = scores.rmse / target_sd,
                  .nll = out.nll - std::log(target_sd),
                  .crps = *scores.crps / target_sd,
                  .width = scores.width / target_sd};
  if (const double sd = sd_of(y.to(at::kDouble), weight); sd > 0) {
    double constant = 0.5 * std::log(2 * std::numbers::pi * std::numbers::e) + std::log(sd);
    out.nll_constant = constant;
    scores.rmse_constant = sd;
    standardized.rmse_constant = sd / target_sd;
    standardized.nll_constant = constant - std::log(target_sd);
  }
  return out;
}

}  // namespace slimbayes
