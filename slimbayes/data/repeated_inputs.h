#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// Counts the rows of `inputs` [m, d] that equal some row of `known` [n, d] in every number. O((n + m) d).
int64_t repeated_inputs(const at::Tensor& known, const at::Tensor& inputs);

}  // namespace slimbayes
