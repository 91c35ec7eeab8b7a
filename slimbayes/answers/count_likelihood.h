#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/likelihood.h"

namespace slimbayes {

/// The likelihood of counts: y ~ Poisson(exp f), where one latent function f is the log rate; y holds whole
/// numbers >= 0.
struct PoissonLikelihood {
  /// Returns E_f[log P(y | f)] = y mean - exp(mean + var / 2) - log y! for each row, in closed form: the data
  /// term of an ELBO. Differentiable. f, y and the result have shape [b].
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns the log predictive probability log E_f[P(y | f)] of each row. It has no closed form and is
  /// computed by quadrature (count_distribution.h). Float64, without gradients. f, y and the result have
  /// shape [b].
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns a Counts: the log-normal distribution of the rate exp f of each row. Float64, without gradients.
  Predictive predictive(const Latent& f) const;
};

/// The likelihood of overdispersed counts: y ~ NB2(mean exp f, variance exp f + dispersion exp(2 f)), the
/// negative binomial with one dispersion for all rows (Cameron and Trivedi 1998, section 3.3). At a
/// dispersion of 0 it is PoissonLikelihood.
struct NegativeBinomialLikelihood {
  at::Tensor dispersion;  // scalar float64, > 0; training differentiates in it

  /// Returns E_f[log P(y | f)] of each row by Gauss-Hermite quadrature with 32 nodes, whose error is below
  /// 1e-8 times y + 1 / dispersion for a variance of f of at most 1. Differentiable in f and the dispersion.
  /// f, y and the result have shape [b].
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns log E_f[P(y | f)] of each row (count_log_prob). Float64, without gradients. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns a Counts with this dispersion. Float64, on the CPU, without gradients.
  Predictive predictive(const Latent& f) const;
};

/// The likelihood of counts with zeros in excess: y = 0 with the probability zero_share, else y ~ Poisson(exp
/// f) (Lambert 1992, with one share for all rows). At a share of 0 it is PoissonLikelihood.
struct ZeroInflatedPoissonLikelihood {
  at::Tensor zero_share;  // scalar float64, above 0 and below 1; training differentiates in it

  /// Returns E_f[log P(y | f)] of each row: in closed form where y > 0, else by the same quadrature, whose
  /// error is below 1e-4 for a variance of f of at most 1 and a share of at least 0.01.
  /// Differentiable in f and the share. f, y and the result have shape [b].
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// As those of NegativeBinomialLikelihood, with this share of zeros.
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;
  Predictive predictive(const Latent& f) const;
};

/// The likelihood of events (points) of a Cox process: a Poisson process with the intensity exp f, where the
/// latent function f is Gaussian. The expected log-likelihood of n events at x_i is
/// sum_i mean(x_i) - integral of exp(mean + var / 2) over the domain (paper E, appendix A.5;
/// docs/references.md). This type computes the summand of each event; cox_bound() in
/// objectives/variational_bound.h adds the integral.
struct CoxLikelihood {
  /// Returns the summand of each event in the expected log-likelihood, E_f[f] = mean. y is ignored, because
  /// an event has no target. Differentiable. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns the log of the expected intensity at each event, log E_f[exp f] = mean + var / 2. y is ignored.
  /// Differentiable. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns an Intensity: the log-normal distribution of the intensity exp f at each place. Float64, without
  /// gradients.
  Predictive predictive(const Latent& f) const;
};

/// Returns the expected intensity (or rate) E_f[exp f] = exp(mean + var / 2), in the shape of f.
/// Differentiable.
at::Tensor expected_intensity(const Latent& f);

}  // namespace slimbayes
