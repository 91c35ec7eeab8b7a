#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Metrics of Gaussian answers, computed over all rows in float64; y is [n], finite. All throw
/// std::invalid_argument for mismatched or empty inputs.
double mean_absolute_error(const Regression& p, const at::Tensor& y);
double root_mean_squared_error(const Regression& p, const at::Tensor& y);
double gaussian_nll(const Regression& p, const at::Tensor& y);  // mean of -log N(y; mean, total_var)
double crps(const Regression& p, const at::Tensor& y);          // Gneiting and Raftery 2007, closed form
double coverage(const Regression& p, const at::Tensor& y, double level);  // share of rows inside the interval
double interval_width(const Regression& p, double level);                 // mean width of the interval
double interval_score(const Regression& p, const at::Tensor& y,
                      double level);  // Gneiting and Raftery 2007, eq. 43
/// These three overloads score a given interval, such as a conformal one (core/conformal.h). y [n].
double coverage(const Interval& i, const at::Tensor& y);
double interval_width(const Interval& i);
double interval_score(const Interval& i, const at::Tensor& y, double level);
/// Returns the histogram of the probability integral transform, the predictive cdf at y: flat if the model is
/// calibrated. [bins] shares with sum 1.
at::Tensor pit_histogram(const Regression& p, const at::Tensor& y, int64_t bins);

/// Empirical coverage of the central intervals at `points` evenly spaced levels in (0, 1), and the mean
/// absolute distance of that curve from the diagonal.
struct CalibrationCurve {
  at::Tensor level;     // [points]
  at::Tensor coverage;  // [points]
  double area;          // mean |coverage - level|; 0 is perfect calibration
};
CalibrationCurve calibration_curve(const Regression& p, const at::Tensor& y, int64_t points = 99);

/// Returns the probability of at least `misses` misses among n intervals that each miss with probability
/// 1 - level, independently: P(X >= misses) of a binomial variable. A small value says that the intervals do
/// not hold their level. 0 <= misses <= n, 0 < level < 1; throws std::invalid_argument.
double probability_of_misses(int64_t misses, int64_t n, double level);

/// Reports the metrics that `slimbayes evaluate` prints for a regression. In the target's units: n (rows),
/// mae, rmse, nll, crps, coverage, width and interval_score; the last three are of the Gaussian interval at
/// `level`. For the target divided by `target_sd`, with the suffix `_standardized`: mae, rmse, nll (nll - log
/// target_sd), crps and width. On both scales also a baseline that a model with useful inputs beats:
/// nll_constant, the NLL of one Gaussian with the mean and sd of y for every row, and rmse_constant, the RMSE
/// of that mean. Both are absent if all y are equal.
/// Throws std::invalid_argument unless `target_sd` is finite and > 0.
nlohmann::json regression_report(const Regression& p, const at::Tensor& y, double target_sd,
                                 double level = 0.95);

/// An interval with the level that it was made for.
struct LevelInterval {
  double level;
  Interval interval;
};

/// Reports the metrics of regression_report for a given interval, such as a conformal one, instead of the
/// Gaussian one.
nlohmann::json regression_report(const Regression& p, const at::Tensor& y, double target_sd,
                                 const LevelInterval& given);

}  // namespace slimbayes
