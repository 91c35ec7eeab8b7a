#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// Returns how many rows of `inputs` [m, d] also occur in `known` [n, d], with every number equal. O((n + m)
/// d).
int64_t repeated_inputs(const at::Tensor& known, const at::Tensor& inputs);

}  // namespace slimbayes
