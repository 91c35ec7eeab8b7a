#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// A Gaussian belief over the latent function at b rows, or over k of them, independent of each other.
struct Latent {
  at::Tensor mean;           // [b] or [b, k]
  at::Tensor epistemic_var;  // the same shape; variance, >= 0
  int64_t zeroed = 0;        // as in Regression
};

/// y = f + noise, noise ~ N(0, noise_var).
struct GaussianLikelihood {
  at::Tensor noise_var;  // scalar or [b], > 0

  /// E_f[log N(y; f, noise_var)]: the data term of an ELBO (N-5). Differentiable. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// log N(y; mean, epistemic_var + noise_var): the data term of PPGP and dPPGP (N-15). Differentiable. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// In float64.
  Predictive predictive(const Latent& f) const;
};

}  // namespace slimbayes
