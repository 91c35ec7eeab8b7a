#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

// Statistics over rows with weights. In all of them `weights` [n] float64, > 0, holds for how many equal rows
// each row counts (Dataset::weights); undefined: each counts once, with the same bits as without weights. See
// also weighted_mean() (answers/row_mean.h).

/// Returns the sum of the weights of n rows; without weights n. That is total_weight() of answers/row_mean.h.
double total_of(const at::Tensor& weights, int64_t n);

/// Returns Kish's effective number of rows, (sum w)^2 / sum w^2 (Kish 1965, Survey Sampling): a mean over
/// these rows is as uncertain as one over so many rows of equal weights. At most n, with equality for equal
/// weights, whatever their size (answers/row_mean.h). Use it where the number of rows says how sure an
/// average is; use total_of() in sums such as a log likelihood.
double effective_rows(const at::Tensor& weights, int64_t n);

/// A mean over rows and its standard error.
struct MeanWithError {
  double mean = 0, error = 0;
};

/// Returns the weighted mean of x [n] float64, n > 0, and its standard error: sqrt(v / (m - 1)) for the
/// weighted variance v and m = effective_rows(). Infinite unless m > 1.
MeanWithError mean_with_error(const at::Tensor& x, const at::Tensor& weights);

/// Returns the variance of x [n] around its mean, both weighted, without Bessel's correction.
double weighted_var(const at::Tensor& x, const at::Tensor& weights);

/// Returns the lower median, and the quantiles at the shares `at` [k] in [0, 1] with linear interpolation, of
/// x [n] float64, n > 0. Weights with a mean of at least 1 count rows: whole ones give the median and the
/// quantiles of the repeated rows, as at::median and at::quantile have them. Weights with a mean below 1
/// cannot be counts of rows, and are divided by their mean: weights of importance have no unit, and equal
/// ones of any size up to 1 give what no weights give.
double weighted_median(const at::Tensor& x, const at::Tensor& weights);
at::Tensor weighted_quantiles(const at::Tensor& x, const at::Tensor& weights, const at::Tensor& at);

}  // namespace slimbayes
