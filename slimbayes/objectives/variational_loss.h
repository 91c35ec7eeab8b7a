#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// The terms of a mini-batch loss under q(w), scalars: total = data + alpha trace + beta / n KL is what is
/// minimised.
struct VariationalLoss {
  at::Tensor data;  // mean over the batch
  at::Tensor kl;    // KL(q || N(0, I))
  at::Tensor total;
};

/// The trace regulariser (N-15; E-11): mean over the batch of (max_b ||phi||^2 - ||phi||^2) / (2 noise_var), differentiable
/// through both. features [b, r], noise_var scalar.
at::Tensor trace_regulariser(const at::Tensor& features, const at::Tensor& noise_var);

}  // namespace slimbayes
