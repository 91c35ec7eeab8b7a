#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/likelihood.h"

namespace slimbayes {

/// k independent posteriors q(w_c) = N(m_c, L_c L_c^T) over linear models on the same features: a latent function a class,
/// or one.
struct LatentPosterior {
  at::Tensor mean;          // m [k, r]
  at::Tensor log_diagonal;  // log L_ii [k, r]
  at::Tensor lower;         // [k, r, r]; their strictly lower parts are the L's

  at::Tensor factor() const;  // L [k, r, r]

  /// f_c(x) = offset_c + <w_c, phi>: mean and variance ||L_c^T phi||^2. features [b, r], offset [k]. [b, k]
  Latent latent(const at::Tensor& features, const at::Tensor& offset) const;

  /// Sum over c of KL(q_c || N(0, I)). Scalar.
  at::Tensor kl() const;
};

}  // namespace slimbayes
