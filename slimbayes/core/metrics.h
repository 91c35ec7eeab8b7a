#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Metrics of Gaussian answers, each over rows, float64; y is [n], finite. All throw
/// std::invalid_argument for mismatched or empty inputs.
double mean_absolute_error(const Regression& p, const at::Tensor& y);
double root_mean_squared_error(const Regression& p, const at::Tensor& y);
double gaussian_nll(const Regression& p, const at::Tensor& y);  // mean of -log N(y; mean, total_var)
double crps(const Regression& p, const at::Tensor& y);          // Gneiting and Raftery 2007, closed form
double coverage(const Regression& p, const at::Tensor& y, double level);  // share of rows inside the interval
double interval_width(const Regression& p, double level);                 // mean width
double interval_score(const Regression& p, const at::Tensor& y,
                      double level);  // Gneiting and Raftery 2007, eq. 43
/// The same three interval metrics for a given interval, such as a conformal one (core/conformal.h). y [n].
double coverage(const Interval& i, const at::Tensor& y);
double interval_width(const Interval& i);
double interval_score(const Interval& i, const at::Tensor& y, double level);
at::Tensor pit_histogram(const Regression& p, const at::Tensor& y, int64_t bins);  // [bins] shares, sum 1

/// Empirical coverage at `points` evenly spaced levels in (0, 1), and the area between that curve and the
/// diagonal.
struct CalibrationCurve {
  at::Tensor level;     // [points]
  at::Tensor coverage;  // [points]
  double area;          // mean |coverage - level|
};
CalibrationCurve calibration_curve(const Regression& p, const at::Tensor& y, int64_t points = 99);

/// The metrics that `slimbayes evaluate` prints. In the target's units: n, mae, rmse, nll, crps, coverage,
/// width and interval_score. For the target divided by `target_sd`, with the suffix `_standardized`: mae,
/// rmse, nll (nll - log target_sd), crps and width. On both scales also nll_constant, the NLL of one
/// Gaussian with the mean and sd of y for every row: a baseline that a model with useful inputs beats. It
/// is absent where all y are equal.
nlohmann::json regression_report(const Regression& p, const at::Tensor& y, double target_sd,
                                 double level = 0.95);
/// The same with `i` as the interval of that level.
nlohmann::json regression_report(const Regression& p, const at::Tensor& y, double target_sd, double level,
                                 const Interval& i);

}  // namespace slimbayes
