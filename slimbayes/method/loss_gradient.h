#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/encoding/head_spec.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// The mean loss of a batch, which a device may still be computing, and its derivative with respect to the
/// outputs of the network.
struct LossGradient {
  StepLoss loss = 0.0;
  at::Tensor gradient;  // [b, k], like the outputs
};

/// Returns the loss that is `sum`, one number, times `share`: on a device a float64 tensor.
StepLoss share_of_sum(const at::Tensor& sum, double share);

/// Returns the mean over the batch of Head::loss without label smoothing, and its gradient in closed form:
/// (p - y) / b, twice that for a squared error. p is the predicted mean: the output f of a regression,
/// exp(f), sigmoid(f) or softmax(f); y is the target, of softmax its indicator. output [b, k], y [b]. The
/// gradient equals automatic differentiation up to rounding and takes a fifth of its operations.
LossGradient loss_gradient(const HeadSpec& head, const at::Tensor& output, const at::Tensor& y);

}  // namespace slimbayes
