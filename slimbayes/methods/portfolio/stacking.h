#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace slimbayes {

/// Returns the weights of a mixture of k models that maximise sum_i log sum_k w_k p_k(y_i) over n held-out
/// rows, with a uniform prior row for each model (Yao, Vehtari, Simpson and Gelman 2018, Using stacking to
/// average Bayesian predictive distributions, section 3.2). `log_density` [n, k] holds log p_k(y_i), float64;
/// -inf is allowed. `rows` [n] holds how often each row counts (Dataset::weights), undefined: once. The
/// weights are > 0 and sum to 1. By expectation maximisation, which raises the objective in every step.
/// Throws std::invalid_argument if there are no rows or no models, or for a NaN or +inf.
std::vector<double> stacking_weights(const at::Tensor& log_density, const at::Tensor& rows = {});

}  // namespace slimbayes
