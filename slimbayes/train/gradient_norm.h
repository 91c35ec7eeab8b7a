#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Scales the gradient of all groups together so that its Euclidean norm is at most `most` (Pascanu, Mikolov
/// and Bengio 2013, algorithm 1). Computes the norm in float64, in which the squares of large float32 numbers
/// do not overflow. On the CPU it throws NumericalError if the norm is not finite, and the result is
/// undefined. On a device nothing waits for the norm: it is returned as a scalar float64 there, and the
/// caller sees to it that it is finite (LossSum::watch).
at::Tensor clip_gradients(std::vector<ParameterGroup>& groups, double most);

}  // namespace slimbayes
