#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The Gaussian posterior of the latent function f at b rows, or of k latent functions that are independent
/// of each other. A likelihood turns it into a predictive of the target.
struct Latent {
  at::Tensor mean;           // [b] or [b, k]
  at::Tensor epistemic_var;  // variance in the shape of mean, >= 0
  int64_t zeroed = 0;        // rows whose variance rounding made negative; it was set to 0
};

/// The likelihood of a regression: y = f + noise, noise ~ N(0, noise_var).
struct GaussianLikelihood {
  at::Tensor noise_var;  // scalar or [b], > 0

  /// Returns E_f[log N(y; f, noise_var)] for each row: the data term of an ELBO, as SVGP maximises it.
  /// Differentiable. f, y and the result have shape [b].
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns the log predictive density log N(y; mean, epistemic_var + noise_var) of each row: the data term
  /// of the PPGP objective (Jankowiak et al. 2020). Differentiable. f, y and the result have shape [b].
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns a Regression with the mean of f, the variance of f as epistemic variance and noise_var as
  /// aleatoric variance. Float64, without gradients.
  Predictive predictive(const Latent& f) const;
};

/// The predictive density of a regression with heavy tails: a Student-t distribution with the mean of f, the
/// variance epistemic_var + noise_var, and `dof` degrees of freedom. It takes the place of the Gaussian
/// density in the PPGP objective (Jankowiak et al. 2020), and is no model of the noise alone: the sum of a
/// Gaussian f and Student-t noise is no Student-t. Hence it has no expected_log_prob.
struct StudentLikelihood {
  at::Tensor noise_var;  // scalar, > 0
  double dof;            // > 2; infinite: a Gaussian

  /// Returns the log predictive density of each row. Differentiable in the mean and the variances. f, y and
  /// the result have shape [b]. Throws std::invalid_argument unless dof > 2.
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns a Regression whose density is that of log_predictive (Regression::density). Float64, without
  /// gradients.
  Predictive predictive(const Latent& f) const;
};

}  // namespace slimbayes
