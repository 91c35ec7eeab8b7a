#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// How many rows of `inputs` [m, d] are the same as some row of `known` [n, d], number by number. O((n + m)
/// d).
int64_t repeated_inputs(const at::Tensor& known, const at::Tensor& inputs);

}  // namespace slimbayes
