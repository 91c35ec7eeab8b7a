#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The Poisson-lognormal distribution of a count: y ~ Poisson(exp f), f ~ N(log_mean, log_var), one
/// distribution per row of a LogNormalRate. All results are float64, without gradients.
/// poisson_lognormal_log_prob, _cdf and _quantile throw std::invalid_argument if shapes do not match. The
/// first two also throw it if a log mean or log variance is not finite or a log variance is negative.

/// Throws std::invalid_argument unless y [n] holds counts, that is finite whole numbers >= 0. The message
/// names `function` and the first value that is no count.
void check_counts(const at::Tensor& y, std::string_view function);

/// Returns log P(y) of the count y of each row; y [n] whole numbers >= 0. The relative error of P is below
/// 1e-9. If P is too small for a double, log P is still finite, with a relative error below 1e-12. Throws
/// NumericalError if the rate of a row overflows. [n]
at::Tensor poisson_lognormal_log_prob(const LogNormalRate& rate, const at::Tensor& y);

/// Returns the cumulative probability P(y <= k) of each row, k [n]; it is 0 for k < 0. The absolute error is
/// below 1e-8. [n]
at::Tensor poisson_lognormal_cdf(const LogNormalRate& rate, const at::Tensor& k);

/// Returns the p-quantile of the count of each row: the least whole number k with P(y <= k) >= p. A quantile
/// above about 1e13 is replaced by the log-normal quantile of the rate, because rounding to whole numbers
/// does not matter there. The result is infinite if that overflows, and NaN for a row whose log rate is NaN.
/// Such a row does not affect the other rows. Throws std::invalid_argument unless 0 < p < 1. [n]
at::Tensor poisson_lognormal_quantile(const LogNormalRate& rate, double p);

/// The same of the counts of any noise (Counts), whose Poisson counts are those above. With a dispersion or a
/// share of zeros the rows are computed one by one (density/count_noise.h), log P with a relative error of P
/// below 1e-8 for counts and rates up to 1e6, the cdf with an absolute error below 1e-8. Throw as above, and
/// std::invalid_argument for a dispersion or share out of range. [n]
at::Tensor count_log_prob(const Counts& p, const at::Tensor& y);
at::Tensor count_cdf(const Counts& p, const at::Tensor& k);
at::Tensor count_quantile(const Counts& p, double probability);

/// Returns which rows have a misleading mean rate: one that is finite and above the upper end of the row's
/// interval. `bounds` holds an interval of the counts or of the rates. The mean of a log-normal rate is
/// exp(s^2 / 2) times its median, where s is the sd of the log rate, so with a large s it rests on a tail for
/// which there are no data. It leaves the 95 % interval of the rate once s exceeds 3.92. Throws
/// std::invalid_argument if the shapes differ. [n] bool
at::Tensor mean_above_interval(const LogNormalRate& rate, const Interval& bounds);

}  // namespace slimbayes
