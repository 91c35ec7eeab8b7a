#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "slimbayes/answers/censored/censored.h"
#include "slimbayes/answers/censored/kaplan_meier.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Whether the predicted distributions of censored targets hold what they promise, over all targets.
struct DistributionCalibration {
  /// Share of the rows whose predictive cdf at the target is in each bin; 1 / bins if calibrated. [bins]
  at::Tensor share;
  /// Of Pearson's chi-squared test that all shares are equal, with bins - 1 degrees of freedom.
  double statistic = 0;
  double p_value = 1;  // small: the distributions are not calibrated
};

/// Returns the D-calibration (Haider et al. 2020, Journal of Machine Learning Research 21, number 85) of n
/// rows whose predictive cdf at the bounds of the target is lower and upper [n], 0 <= lower <= upper <= 1. A
/// row with equal bounds counts in its bin of [0, 1]; another counts in all bins between its bounds in
/// proportion to the overlap, which is its distribution given the bounds. For right censoring (upper = 1)
/// these are the counts of the paper; left-censored and interval rows follow by the same argument. A row of
/// `weight` [n] w counts as w equal rows. Rows that are spread over bins say less than the test assumes, so
/// that heavy censoring makes it miss errors. Throws std::invalid_argument for other shapes and values, and
/// for fewer than two bins.
DistributionCalibration distribution_calibration(const at::Tensor& lower, const at::Tensor& upper,
                                                 int64_t bins = 10, const at::Tensor& weight = {});

/// The same of the densities of a regression at these targets. Throws as checked_censored, too.
DistributionCalibration distribution_calibration(const Regression& p, const Censored& target,
                                                 int64_t bins = 10, const at::Tensor& weight = {});

/// Rows with similar predicted survival at a time, and what the data say of it.
struct HorizonGroup {
  int64_t rows = 0;
  double predicted = 0;            // mean of the predicted survival
  std::optional<double> observed;  // the Kaplan-Meier estimate of the group; nothing if all left it before
  double lower = 0, upper = 1;     // its confidence interval; 0 and 1 if nothing is observed
};

/// Returns the calibration of the predicted survival [n], 0 to 1, at the time `horizon`: the rows, sorted by
/// it, in `groups` groups of equal numbers (up to one; equal predictions in the order of the rows), the group
/// of the least survival first. `level` is that of the confidence intervals. A row of `weight` [n] w counts
/// as w equal rows in the means and estimates, and as one in the making of groups. Throws
/// std::invalid_argument as kaplan_meier, for other shapes and values, and unless 1 <= groups <= n.
std::vector<HorizonGroup> horizon_calibration(const SurvivalTimes& data, const at::Tensor& survival,
                                              double horizon, int64_t groups = 5,
                                              const at::Tensor& weight = {}, double level = 0.95);

}  // namespace slimbayes
