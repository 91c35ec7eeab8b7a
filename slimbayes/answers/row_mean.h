#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

#include "slimbayes/answers/evaluation.h"

namespace slimbayes {

// Weights of scored rows. A row of weight w counts as w equal rows in every mean, so that the weighted
// metrics of rows with whole weights are the metrics of the rows repeated. `weight` is [n], each > 0;
// undefined, which is the default of every metric, means that each row counts once.

/// Returns the weights in float64; undefined for undefined. [n] Throws std::invalid_argument, which names
/// `function`, unless there are n of them and each is finite and > 0.
at::Tensor checked_weight(const at::Tensor& weight, int64_t n, std::string_view function);

/// Returns the mean of x [n] in float64 by weights [n] that are known to be float64 and > 0, such as those of
/// a dataset (Dataset::weights), or undefined.
double weighted_mean(const at::Tensor& x, const at::Tensor& weights);

/// Returns weighted_mean() by weights that a caller gave. Throws std::invalid_argument as checked_weight().
double row_mean(const at::Tensor& x, const at::Tensor& weight, std::string_view function);

/// Returns the sum of the weights; without weights n.
double total_weight(const at::Tensor& weight, int64_t n);

/// Returns the sums of the weights of the rows before each place: 0, w_0, w_0 + w_1, ... [n + 1] The weights
/// must be defined.
at::Tensor weight_before(const at::Tensor& weight);

/// Returns Kish's effective number of rows, (sum w)^2 / sum w^2 (Kish, Survey Sampling, 1965): the number of
/// equally weighted rows whose mean has the same variance. At most n, and n for equal weights; the weights
/// must be defined. Of weights that are counts it is below their sum: it takes the row as the unit that is
/// independent, which is the cautious reading.
double effective_rows(const at::Tensor& weight);

/// Sets Evaluation::total_weight and effective_rows, unless the weights are undefined.
void set_weight(const at::Tensor& weight, Evaluation& report);

}  // namespace slimbayes
