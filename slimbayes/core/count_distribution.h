#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// The Poisson-lognormal distribution of counts: y ~ Poisson(exp f), f ~ N(log_mean, log_var), one count per
/// row. Float64, without gradients. log_prob, cdf and quantile throw std::invalid_argument for mismatched
/// shapes; log_prob and cdf also for a log mean or variance that is not finite, or a negative variance.

/// Throws std::invalid_argument unless y [n] holds finite whole numbers >= 0; the message names the first
/// value that does not fit.
void check_counts(const at::Tensor& y, std::string_view function);

/// Returns log P(y) for y [n] whole numbers >= 0. The relative error of P is below 1e-9; where P is too small
/// for a double, the relative error of log P is below 1e-12. Throws NumericalError for a rate that overflows.
/// [n]
at::Tensor poisson_lognormal_log_prob(const Rate& rate, const at::Tensor& y);

/// Returns P(y <= k) for k [n]; the probability is 0 for k < 0. Absolute error below 1e-8. [n]
at::Tensor poisson_lognormal_cdf(const Rate& rate, const at::Tensor& k);

/// Returns the least whole number k with P(y <= k) >= p. Beyond 1e13, where rounding to whole numbers does
/// not matter, it is the log-normal quantile of the rate: infinite for a rate that overflows, NaN for a row
/// whose log rate is NaN. Each row is computed independently of the others. Throws std::invalid_argument
/// unless 0 < p < 1. [n]
at::Tensor poisson_lognormal_quantile(const Rate& rate, double p);

/// Returns which rows have a finite mean rate above the upper end of their interval of counts or rates. Use
/// it to find rows whose mean is misleading: the log mean of a log-normal lies sd^2 / 2 above its log median,
/// where sd is that of the log rate. At a level of 95 % the mean leaves the interval of the rate once that sd
/// exceeds 3.92; it then rests on a tail for which there are no data. `rate` and `bounds` must have equal
/// shapes. [n] bool
at::Tensor mean_above_interval(const Rate& rate, const Interval& bounds);

}  // namespace slimbayes
