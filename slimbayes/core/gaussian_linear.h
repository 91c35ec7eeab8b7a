#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "slimbayes/core/linear_statistics.h"

namespace slimbayes {

/// y = mean + phi^T w + noise, w ~ N(0, T T^T), noise ~ N(0, sigma2 d).
struct LinearModel {
  double sigma2;            // noise variance, > 0
  at::Tensor prior_factor;  // T: undefined (the identity), a scalar, or [r, r] of any form
  bool fit_mean = false;    // constant mean by generalised least squares; else y_shift of the statistics
};

/// The exact posterior of the weights (Rasmussen and Williams 2006, section 2.1). A value: what it was made
/// from, and its factor.
struct LinearPosterior {
  LinearStatistics statistics;
  LinearModel model;
  double constant;       // the mean's constant, in units of y
  at::Tensor weights;    // [r] posterior mean of w
  at::Tensor whitened;   // [r] T^-1 weights, got without the inverse
  at::Tensor precision;  // [r, r] lower L, L L^T = H = I + T^T S T / sigma2
  at::Tensor
      response;  // [r] of the fitted constant: what T^T phi makes of it, H^-1 T^T Phi^T D^-1 1 / sigma2
  double constant_var;  // of the fitted constant, 1 / 1^T C^-1 1; 0 of a fixed one
};

/// Throws std::invalid_argument unless sigma2 > 0 and T fits; NumericalError when sigma2 is too small for
/// float64.
LinearPosterior linear_posterior(const LinearStatistics& s, const LinearModel& model);

/// constant + <weights, phi>, float64. [b]
at::Tensor mean(const LinearPosterior& p, const at::Tensor& features);

/// ||L^-1 T^T phi||^2 + constant_var (1 - <response, T^T phi>)^2: of the weights given the constant, and of a
/// fitted constant under a flat prior. Float64; a sum of squares, never negative. [b]
at::Tensor epistemic_var(const LinearPosterior& p, const at::Tensor& features);

/// The posterior with these rows as well, or without them, at the same features, sigma2 and T: O(k r^2) for k
/// rows.
LinearPosterior added(const LinearPosterior& p, const LinearRows& rows);
LinearPosterior removed(const LinearPosterior& p, const LinearRows& rows);

/// (y - mean)^T D^-1 (y - mean) of these rows; add it up over all batches. It has no cancellation: pass it on
/// when the residuals are much smaller than y, that is for a tiny sigma2.
double residual_sum(const LinearPosterior& p, const LinearRows& rows);

/// The log marginal likelihood log p(y), at the fitted constant if the model fits one. `residuals` is the
/// total of residual_sum over all rows. If absent, it is computed from the statistics, which loses digits to
/// cancellation when the residuals are much smaller than y.
double log_evidence(const LinearPosterior& p, std::optional<double> residuals = {});

/// Derivatives of log_evidence. A fitted constant contributes none (it is a stationary point).
struct EvidenceGradient {
  at::Tensor S;            // [r, r] G = d/dS, symmetric
  at::Tensor c;            // [r] g = d/dc, y counted from the constant
  double constant;         // d/d constant, for a constant that is trained
  double log_sigma2;       // d/d log sigma2
  double log_prior_scale;  // d/d log s, for T -> s T at s = 1
};
EvidenceGradient evidence_gradient(const LinearPosterior& p, std::optional<double> residuals = {});

/// <Phi^T D^-1 Phi, G> + <Phi^T D^-1 (y - constant), g>: a scalar whose gradient with respect to these rows'
/// features is that of the evidence of all rows, so training holds one batch at a time. Differentiable; its
/// value means nothing.
at::Tensor evidence_surrogate(const LinearPosterior& p, const EvidenceGradient& gradient,
                              const LinearRows& rows);

}  // namespace slimbayes
