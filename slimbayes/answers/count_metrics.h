#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Metrics of counts, computed over all rows in float64; y [n] holds whole numbers >= 0. All functions throw
/// std::invalid_argument if the shapes do not match or there are no rows, and std::invalid_argument or
/// NumericalError if the rate of a row overflows. `weight` [n], each > 0, is the number of equal rows that a
/// row counts as; undefined: 1. Means and shares are then by the weights.

/// Returns the negative log likelihood in nats: the mean over rows of -log P(y), where y has the
/// distribution of its row.
double count_nll(const Counts& p, const at::Tensor& y, const at::Tensor& weight = {});

/// Returns the negative log likelihood of each row, whose mean is count_nll(). [n]
at::Tensor count_row_nll(const Counts& p, const at::Tensor& y);

/// Returns the metrics of predicted counts, with those of the intervals at `level`. nll_constant, a baseline,
/// is the NLL of one Poisson distribution with rate mean(y) for every row.
Evaluation counts_report(const Counts& p, const at::Tensor& y, double level = 0.95,
                         const at::Tensor& weight = {});

}  // namespace slimbayes
