#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// The Gaussian posterior of the latent function at b rows, or of k mutually independent latent functions.
struct Latent {
  at::Tensor mean;           // [b] or [b, k]
  at::Tensor epistemic_var;  // variance in the shape of mean, >= 0
  int64_t zeroed = 0;        // rows whose variance rounding made negative (see Regression)
};

/// The likelihood of a regression: y = f + noise, noise ~ N(0, noise_var).
struct GaussianLikelihood {
  at::Tensor noise_var;  // scalar or [b], > 0

  /// Returns E_f[log N(y; f, noise_var)], the data term of an ELBO (N-5). f and y [b]. Differentiable. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns log N(y; mean, epistemic_var + noise_var), the data term of PPGP and dPPGP (N-15). f and y [b].
  /// Differentiable. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns a Regression: aleatoric variance noise_var, epistemic variance that of f. Float64, without
  /// gradients.
  Predictive predictive(const Latent& f) const;
};

}  // namespace slimbayes
