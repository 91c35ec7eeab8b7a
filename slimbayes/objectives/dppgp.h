#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/objectives/variational.h"

namespace slimbayes {

/// The three terms of N-15, scalars: total() = data + alpha trace + beta / n KL is what is minimised.
struct DppgpLoss {
  at::Tensor data;  // mean over the batch of -log N(y; mean, ||L^T phi||^2 + noise_var)
  at::Tensor
      trace;      // mean over the batch of (max_b ||phi||^2 - ||phi||^2) / (2 noise_var); both differentiated
  at::Tensor kl;  // KL(q || N(0, I))
  at::Tensor total;
};

/// dPPGP (N-15), a pure function. features [b, r], y [b], offset and noise_var scalars; rows is n.
DppgpLoss dppgp(const at::Tensor& features, const at::Tensor& y, const VariationalPosterior& posterior,
                const at::Tensor& offset, const at::Tensor& noise_var, int64_t rows, double alpha,
                double beta);

/// The loss with its gradient in closed form, without a graph: what a training step needs. `grad_features`
/// goes back through the basis; the others belong to the head.
struct DppgpGradient {
  DppgpLoss loss;
  at::Tensor grad_features;      // [b, r]
  at::Tensor grad_mean;          // [r]
  at::Tensor grad_log_diagonal;  // [r]
  at::Tensor grad_lower;         // [r, r] strictly lower
  at::Tensor grad_offset;        // scalar
  at::Tensor grad_noise_var;     // scalar
};

/// With focus = 0: equals automatic differentiation of dppgp(...).total in every argument. With focus > 0 row
/// i of the data term has the weight v_i^focus / mean(v^focus), v the predictive variances, held constant
/// (Seitzer et al. 2022, eq. 5): rows that the model has given up on keep their gradient, and focus = 1 moves
/// the mean as squared error does.
DppgpGradient dppgp_gradient(const at::Tensor& features, const at::Tensor& y,
                             const VariationalPosterior& posterior, const at::Tensor& offset,
                             const at::Tensor& noise_var, int64_t rows, double alpha, double beta,
                             double focus = 0);

}  // namespace slimbayes
