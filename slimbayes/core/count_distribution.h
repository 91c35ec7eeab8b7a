#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// The Poisson-lognormal distribution: y ~ Poisson(exp f), f ~ N(log_mean, log_var), a count a row. Float64,
/// without gradients. All throw std::invalid_argument for mismatched shapes, all but the quantile for log
/// rates that are not finite.

/// Throws std::invalid_argument unless y [n] holds finite whole numbers of at least 0; names the first that
/// is not.
void check_counts(const at::Tensor& y, std::string_view function);

/// log P(y). y [n] whole numbers >= 0; relative error of P below 1e-9, of log P below 1e-12 where P is too
/// small for a double. Throws NumericalError for a rate that overflows. [n]
at::Tensor poisson_lognormal_log_prob(const Rate& rate, const at::Tensor& y);

/// P(y <= k). k [n], 0 for k < 0; absolute error below 1e-8. [n]
at::Tensor poisson_lognormal_cdf(const Rate& rate, const at::Tensor& k);

/// The least whole number k with P(y <= k) >= p. Beyond 1e13, where whole numbers no longer matter, the
/// log-normal quantile of the rate: infinite for a rate that overflows, NaN for a row whose log rate is. A
/// row alone decides its answer. Throws std::invalid_argument unless 0 < p < 1. [n]
at::Tensor poisson_lognormal_quantile(const Rate& rate, double p);

/// The rows whose finite mean rate lies above the upper end of an interval of counts or rates. A log-normal's
/// mean is half of its log's sd times that sd above its median, in the log: where that is more than the
/// interval reaches, as at an sd of 3.92 and a level of 95 %, the mean rests on a tail that nothing was seen
/// of. [n] bool
at::Tensor mean_above_interval(const Rate& rate, const Interval& bounds);

}  // namespace slimbayes
