#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "slimbayes/core/identity_plus.h"
#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The linear model y = constant + phi^T w + noise with weights w ~ N(0, T T^T) and noise ~ N(0, sigma2 d).
/// phi [r] are the features of a row, and d is its relative noise variance (LinearRows::d).
struct LinearModel {
  double sigma2;            // noise variance, > 0
  at::Tensor prior_factor;  // T: a scalar or any [r, r] matrix; undefined: the identity
  /// Whether the constant is fitted by generalised least squares. Otherwise it is fixed at
  /// LinearStatistics::y_shift.
  bool fit_mean = false;
};

/// The exact Gaussian posterior of the weights of a linear model (Rasmussen and Williams 2006, section 2.1),
/// together with the statistics and the model that it was computed from. It is on the CPU, and so are its
/// answers, wherever the rows are.
struct LinearPosterior {
  LinearStatistics statistics;
  LinearModel model;
  double constant;         // the fitted or fixed constant, in units of y
  at::Tensor weights;      // [r] posterior mean of w
  at::Tensor whitened;     // [r] T^-1 weights, computed without inverting T
  IdentityPlus precision;  // factorisation of H = I + T^T S T / sigma2
  /// H^-1 T^T Phi^T D^-1 1 / sigma2 [r]: the posterior mean of u in w = T u if every target were 1 and the
  /// constant 0. epistemic_var() needs it for the variance of a fitted constant. Zero if the constant is
  /// fixed.
  at::Tensor response;
  double constant_var;  // variance of a fitted constant, 1 / (1^T Cov(y)^-1 1); 0 if it is fixed
};

/// Returns the posterior of the weights, computed from the statistics of the rows. The prior may be
/// arbitrarily wide or narrow. Throws std::invalid_argument unless sigma2 is finite and > 0 and T is finite
/// and of a fitting shape. Throws NumericalError if S is not positive semidefinite, or if fit_mean is set but
/// the features explain a constant so well that it cannot be determined.
SLIMBAYES_EXPORT LinearPosterior linear_posterior(const LinearStatistics& s, const LinearModel& model);

/// Returns the predictive mean of each row, constant + <weights, phi>. features [b, r]. Float64. [b]
SLIMBAYES_EXPORT at::Tensor mean(const LinearPosterior& p, const at::Tensor& features);

/// Returns the epistemic variance of each row, ||H^-1/2 T^T phi||^2 + constant_var (1 - <response, T^T
/// phi>)^2. The first summand is the variance due to the weights for a known constant. The second is the
/// variance due to a fitted constant, which has a flat prior. As a sum of squares the result is never
/// negative. features [b, r]. Float64. [b]
SLIMBAYES_EXPORT at::Tensor epistemic_var(const LinearPosterior& p, const at::Tensor& features);

/// Return the posterior after k rows have been added, or removed; sigma2 and T stay the same. The cost is
/// O(k r^2) for few rows. If k > r / 8, or if the prior is so wide that `precision` holds an
/// eigendecomposition instead of a Cholesky factor (identity_plus), H is factorised anew in O(r^3). removed()
/// throws NumericalError if the remaining matrix is not positive definite. In a loop write `p =
/// added(std::move(p), rows)`: S and the factor of H are then updated in place if no other tensor shares them
/// (see writable), and `p` is lost if the call throws. Without std::move they are copied, and `p` keeps its
/// value.
SLIMBAYES_EXPORT LinearPosterior added(LinearPosterior p, const LinearRows& rows);
SLIMBAYES_EXPORT LinearPosterior removed(LinearPosterior p, const LinearRows& rows);

/// Checks that the targets are not so large that rounding spoils the posterior mean. The sums over y in
/// LinearStatistics lose the digits of other rows when a huge target is added, and removing the huge target
/// does not bring these digits back. Throws std::invalid_argument if the rounding may move the mean by more
/// than about 1e-6 noise sd. `yy` is LinearStatistics::yy before or after rows were added or removed,
/// whichever is larger. The check matters only where mean() is used: epistemic_var() does not depend on y.
SLIMBAYES_EXPORT void check_exact_mean(double yy, const LinearModel& model, const std::string& function);

/// Returns the weighted residual sum of squares of these rows, (y - mean)^T D^-1 (y - mean). Add it up over
/// all batches of rows and pass the total to log_evidence() if the residuals are much smaller than y (a tiny
/// sigma2): unlike the computation from the statistics, it loses no digits to cancellation.
SLIMBAYES_EXPORT double residual_sum(const LinearPosterior& p, const LinearRows& rows);

/// Returns the log evidence, the log marginal likelihood log p(y) of all rows. If the constant is fitted, it
/// is taken at its fitted value. `residuals` is the total of residual_sum() over all rows. Without it, that
/// total is computed from the statistics, which loses digits if the residuals are much smaller than y.
SLIMBAYES_EXPORT double log_evidence(const LinearPosterior& p, std::optional<double> residuals = {});

/// The derivatives of log_evidence() with respect to the statistics S and c and the parameters of the model.
/// A fitted constant maximises the evidence, so its own dependence on the other quantities adds nothing to
/// their derivatives.
struct EvidenceGradient {
  at::Tensor S;            // [r, r] G, the derivative with respect to S; symmetric
  at::Tensor c;            // [r] g, with respect to c, where y has the constant subtracted
  double constant;         // with respect to the constant, if it is trained, not fitted
  double log_sigma2;       // with respect to log sigma2
  double log_prior_scale;  // with respect to log s at s = 1, where s T replaces T
};
SLIMBAYES_EXPORT EvidenceGradient evidence_gradient(const LinearPosterior& p,
                                                    std::optional<double> residuals = {});

/// Returns a scalar whose gradient with respect to the features of these rows is that of the log evidence of
/// all rows: <Phi^T D^-1 Phi, G> + <Phi^T D^-1 (y - constant), g>, with G and g from evidence_gradient(). Use
/// it to train the features by backpropagation through one batch at a time. Differentiable; the value itself
/// has no meaning.
SLIMBAYES_EXPORT at::Tensor evidence_surrogate(const LinearPosterior& p, const EvidenceGradient& gradient,
                                               const LinearRows& rows);

}  // namespace slimbayes
