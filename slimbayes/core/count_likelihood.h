#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/likelihood.h"

namespace slimbayes {

/// The likelihood of counts: y ~ Poisson(exp f) with one latent function, y whole numbers >= 0.
struct PoissonLikelihood {
  /// Returns E_f[log P(y | f)] = y mean - exp(mean + var / 2) - log y!, in closed form. Differentiable. f and
  /// y [b]. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns log E_f[P(y | f)] by quadrature (count_distribution.h), because it has no closed form. Float64,
  /// without gradients. f and y [b]. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns Counts. Float64, without gradients.
  Predictive predictive(const Latent& f) const;
};

/// The likelihood of events of a Cox process whose log intensity is f (E A.5). The expected log-likelihood of
/// n events is sum_i mean(x_i) - integral of exp(mean + var / 2) over the domain. This type computes the term
/// of each event; cox_bound (objectives/variational_bound.h) adds the integral.
struct CoxLikelihood {
  /// Returns E_f[f], the term of an event; y is ignored. Differentiable. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns log E_f[exp f] = mean + var / 2; y is ignored. Differentiable. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns an Intensity. Float64, without gradients.
  Predictive predictive(const Latent& f) const;
};

/// Returns the expected intensity exp(mean + var / 2), in the shape of f. Differentiable.
at::Tensor expected_intensity(const Latent& f);

}  // namespace slimbayes
