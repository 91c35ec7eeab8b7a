#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/encoding/head_spec.h"

namespace slimbayes {

/// The mean loss of a batch, and its derivative with respect to the outputs of the network.
struct LossGradient {
  double loss = 0;
  at::Tensor gradient;  // [b, k], like the outputs
};

/// Returns the mean over the batch of Head::loss without label smoothing, and its gradient in closed form:
/// (p - y) / b, twice that for a squared error. p is the predicted mean: the output f of a regression,
/// exp(f), sigmoid(f) or softmax(f); y is the target, of softmax its indicator. output [b, k], y [b]. The
/// gradient equals automatic differentiation up to rounding and takes a fifth of its operations.
LossGradient loss_gradient(const HeadSpec& head, const at::Tensor& output, const at::Tensor& y);

}  // namespace slimbayes
