#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "slimbayes/core/identity_plus.h"
#include "slimbayes/core/linear_statistics.h"

namespace slimbayes {

/// The linear model y = mean + phi^T w + noise, w ~ N(0, T T^T), noise ~ N(0, sigma2 d).
struct LinearModel {
  double sigma2;            // noise variance, > 0
  at::Tensor prior_factor;  // T: undefined (the identity), a scalar, or any [r, r] matrix
  /// Whether the constant mean is fitted by generalised least squares; otherwise it is y_shift of the
  /// statistics.
  bool fit_mean = false;
};

/// The exact posterior of the weights (Rasmussen and Williams 2006, section 2.1). An immutable value: the
/// statistics and model it was computed from, and its factorisation.
struct LinearPosterior {
  LinearStatistics statistics;
  LinearModel model;
  double constant;       // the constant mean, in units of y
  at::Tensor weights;    // [r] posterior mean of w
  at::Tensor whitened;   // [r] T^-1 weights, computed without inverting T
  IdentityPlus precision;  // of H = I + T^T S T / sigma2
  /// H^-1 T^T Phi^T D^-1 1 / sigma2 [r]. <response, T^T phi> is the prediction at phi, with a constant of 0,
  /// for targets that all equal 1; epistemic_var uses it. Zero if the constant is fixed.
  at::Tensor response;
  double constant_var;  // variance of the fitted constant, 1 / 1^T C^-1 1 with C = Cov(y); 0 if it is fixed
};

/// Computes the posterior from statistics, for a prior of any width. Throws
/// std::invalid_argument unless sigma2 > 0 and T fits; throws NumericalError if S is not positive
/// semidefinite, or if the features explain a constant so well that fit_mean cannot determine it.
LinearPosterior linear_posterior(const LinearStatistics& s, const LinearModel& model);

/// Returns the predictive mean constant + <weights, phi>. features [b, r]. Float64. [b]
at::Tensor mean(const LinearPosterior& p, const at::Tensor& features);

/// Returns the epistemic variance ||H^-1/2 T^T phi||^2 + constant_var (1 - <response, T^T phi>)^2. The first
/// term is the variance of the weights given the constant, the second that of a fitted constant under a flat
/// prior. As a sum of squares it is never negative. features [b, r]. Float64. [b]
at::Tensor epistemic_var(const LinearPosterior& p, const at::Tensor& features);

/// Return the posterior with k rows added, or removed; features, sigma2 and T stay the same. Cost O(k r^2)
/// for few rows. For more than r / 8 rows, and for a prior that is wide compared with the noise
/// (identity_plus), the matrix is factorised anew. removed() throws NumericalError if the result is not
/// positive definite. A stream of rows is fastest as `p = added(std::move(p), rows)`: S and the factor are
/// then updated in place if nothing else holds them (see writable), and `p` is lost if the call throws.
/// Without std::move both are copied and `p` keeps its value.
LinearPosterior added(LinearPosterior p, const LinearRows& rows);
LinearPosterior removed(LinearPosterior p, const LinearRows& rows);

/// Throws std::invalid_argument if rows have been added, or are about to be removed, whose targets are so
/// large that rounding the sums of y moves the mean by more than about 1e-6 noise sd. The sums lose the
/// digits of the other rows beside such targets, and removing the large rows does not bring these digits
/// back. `yy` is the largest LinearStatistics::yy before or after the change. The check matters only where
/// mean() is used.
void check_exact_mean(double yy, const LinearModel& model, const std::string& function);

/// Returns (y - mean)^T D^-1 (y - mean) of these rows; sum it over all batches. It is free of cancellation:
/// compute it and pass it to log_evidence when the residuals are much smaller than y, that is for a tiny
/// sigma2.
double residual_sum(const LinearPosterior& p, const LinearRows& rows);

/// Returns the log marginal likelihood log p(y), at the fitted constant if the model fits one. `residuals` is
/// the total of residual_sum over all rows. If absent, it is computed from the statistics, which loses digits
/// to cancellation when the residuals are much smaller than y.
double log_evidence(const LinearPosterior& p, std::optional<double> residuals = {});

/// Derivatives of log_evidence. A fitted constant contributes nothing to the other derivatives (it is a
/// stationary point).
struct EvidenceGradient {
  at::Tensor S;            // [r, r] G = d/dS, symmetric
  at::Tensor c;            // [r] g = d/dc, for y counted from the constant
  double constant;         // d/d constant, for a constant that is trained, not fitted
  double log_sigma2;       // d/d log sigma2
  double log_prior_scale;  // d/d log s, for T -> s T at s = 1
};
EvidenceGradient evidence_gradient(const LinearPosterior& p, std::optional<double> residuals = {});

/// Returns <Phi^T D^-1 Phi, G> + <Phi^T D^-1 (y - constant), g>, a scalar for backpropagation. Its gradient
/// with respect to the features of these rows equals that of the evidence of all rows, so training holds one
/// batch at a time. Differentiable; the value itself has no meaning.
at::Tensor evidence_surrogate(const LinearPosterior& p, const EvidenceGradient& gradient,
                              const LinearRows& rows);

}  // namespace slimbayes
