#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Returns a tensor with the elements of `x` that the caller may overwrite. This is `x` itself if it was
/// given with std::move, no other handle or view refers to its elements, and the tensor library allocated
/// them outside inference mode; otherwise it is a copy with the same strides. Use it in a function that takes
/// its argument by value: a loop `s = added(std::move(s), rows)` then copies nothing, and a call without
/// std::move leaves the caller's value as it was. Without gradients.
at::Tensor writable(at::Tensor x);

}  // namespace slimbayes
