#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Metrics of counts, computed over all rows in float64; y [n] holds whole numbers >= 0. All throw
/// std::invalid_argument for mismatched or empty inputs, and for a row whose rate overflows.

/// Returns the mean of -log P(y) under the Poisson-lognormal count, in nats.
double count_nll(const Counts& p, const at::Tensor& y);

/// Reports n, mae and rmse (both of the mean rate), nll, nll_constant (the NLL of one Poisson distribution
/// with rate mean(y) for every row), and coverage, width and interval_score of the interval at `level`.
nlohmann::json counts_report(const Counts& p, const at::Tensor& y, double level = 0.95);

}  // namespace slimbayes
