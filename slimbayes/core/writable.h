#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace slimbayes {

/// Returns a tensor with the elements of `x` that the caller may overwrite, without gradients. It is `x`
/// itself if nobody else can see a change: `x` was given with std::move, no other tensor shares its elements,
/// and the tensor library allocated them outside inference mode. Otherwise it is a copy with the same
/// strides. Use it in a function that takes a tensor by value and returns the changed tensor: a loop
/// `s = added(std::move(s), rows)` then copies nothing, and a call without std::move leaves the caller's
/// tensor unchanged.
at::Tensor writable(at::Tensor x);

/// Returns a copy of each tensor, where the tensor is.
std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& all);

}  // namespace slimbayes
