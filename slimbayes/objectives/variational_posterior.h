#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/likelihood.h"

namespace slimbayes {

/// The variational posterior q(w_c) = N(m_c, L_c L_c^T), c = 1, ..., k: independent Gaussians over the
/// weights of k linear models on the same features (N section 2). A softmax has k = number of classes, every
/// other likelihood k = 1.
struct VariationalPosterior {
  at::Tensor mean;          // m [k, r]
  at::Tensor log_diagonal;  // log L_ii [k, r]
  /// [k, r, r]; the strictly lower triangles are those of the L_c, the rest is ignored.
  at::Tensor lower;

  at::Tensor factor() const;  // L [k, r, r]

  /// Returns the posterior of f_c(x) = offset_c + <w_c, phi(x)>: mean offset_c + <m_c, phi>, variance ||L_c^T
  /// phi||^2. features [b, r], offset [k]. [b, k]
  Latent latent(const at::Tensor& features, const at::Tensor& offset) const;

  /// Returns the same as the function above. `factor` is the result of factor(), which may serve many calls.
  Latent latent(const at::Tensor& features, const at::Tensor& offset, const at::Tensor& factor) const;

  /// Returns the sum over c of KL(q_c || N(0, I)) = 1/2 (||m_c||^2 + ||L_c||_F^2 - 2 sum_i log L_c,ii - r).
  /// Scalar.
  at::Tensor kl() const;
};

}  // namespace slimbayes
