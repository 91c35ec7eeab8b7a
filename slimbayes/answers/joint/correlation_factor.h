#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace slimbayes {

/// Returns the Cholesky factor L, lower triangular with L L^T = correlation, of a correlation matrix of k
/// targets. Throws std::invalid_argument in the name of `function` unless `correlation` is [k, k] with k > 0,
/// finite, symmetric and of unit diagonal, both up to 1e-9, and NumericalError unless it is positive
/// definite. [k, k] float64
at::Tensor correlation_factor(const at::Tensor& correlation, int64_t k, std::string_view function);

}  // namespace slimbayes
