#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Returns a tensor with the elements of `x` that the caller may overwrite: `x` itself if it was given with
/// std::move, nothing else refers to its elements (another handle, a view), the tensor library allocated
/// them and not in inference mode; otherwise a copy with the same strides. A value whose functions take
/// their argument by value so keeps its meaning, and a loop `s = added(std::move(s), rows)` copies nothing.
/// Without gradients.
at::Tensor writable(at::Tensor x);

}  // namespace slimbayes
