#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/likelihood.h"

namespace slimbayes {

/// y ~ Poisson(exp f), one latent function, y whole numbers >= 0.
struct PoissonLikelihood {
  /// E_f[log P(y | f)] = y mean - exp(mean + var / 2) - log y!, closed form. Differentiable. f and y [b]. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// log E_f[P(y | f)], in float64 and without gradients: no closed form, see count_distribution.h. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// In float64.
  Predictive predictive(const Latent& f) const;
};

/// Events of a Cox process whose log intensity is f (E A.5). The expected log-likelihood of n events is sum_i
/// mean(x_i) - integral of exp(mean + var / 2) over the domain: this has the term of each event, cox_bound
/// (objectives/variational_bound.h) the integral.
struct CoxLikelihood {
  /// E_f[f], the term of an event; y is not read. Differentiable. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// log E_f[exp f] = mean + var / 2; y is not read. Differentiable. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// In float64.
  Predictive predictive(const Latent& f) const;
};

/// exp(mean + var / 2), the expected intensity. Differentiable. Shape of f.
at::Tensor expected_intensity(const Latent& f);

}  // namespace slimbayes
