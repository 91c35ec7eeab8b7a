#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/likelihood.h"

namespace slimbayes {

/// q(w) = N(m, L L^T) over the weights of a linear model on features (N section 2).
struct VariationalPosterior {
  at::Tensor mean;          // m [r]
  at::Tensor log_diagonal;  // log L_ii [r]
  at::Tensor lower;         // [r, r]; its strictly lower part is L's

  at::Tensor factor() const;  // L [r, r]

  /// f(x) = offset + <w, phi>: mean <m, phi> + offset, variance ||L^T phi||^2. features [b, r], offset
  /// scalar.
  Latent latent(const at::Tensor& features, const at::Tensor& offset) const;

  /// KL(q || N(0, I)) = 1/2 (||m||^2 + ||L||_F^2 - 2 sum log L_ii - r).
  at::Tensor kl() const;
};

}  // namespace slimbayes
