#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// The generalised Gauss-Newton matrix of a classifier's negative log likelihood in the weights W [k, r] of
/// its last layer, summed over rows (Daxberger et al. 2021, docs/references.md):
///   H = sum_i Lambda_i (x) phi_i phi_i^T,  Lambda_i = diag(p_i) - p_i p_i^T,
/// with p_i the probabilities of row i, or Lambda_i = p_i (1 - p_i) for one logit. It does not depend on the
/// labels, and sums of disjoint rows add up. With the Kronecker structure H is approximated by
/// (sum_i Lambda_i) (x) (sum_i phi_i phi_i^T) / n. Float64.
struct GaussNewton {
  at::Tensor full;      // [k r, k r], class by class; undefined with the Kronecker structure
  at::Tensor features;  // [r, r] sum of phi phi^T
  at::Tensor classes;   // [k, k] sum of Lambda
  int64_t n = 0;

  int64_t rank() const { return features.size(0); }    // r
  int64_t outputs() const { return classes.size(0); }  // k
};

/// Returns the matrix of zero rows.
GaussNewton gauss_newton(int64_t outputs, int64_t rank, bool full);

/// Returns the matrix with these rows added, or with sign -1 removed. features [b, r], logits [b, k].
/// O(b k^2 r^2), with the Kronecker structure O(b (k^2 + r^2)). In a loop write
/// `h = with_rows(std::move(h), ...)`: the full matrix is then changed in place. Throws
/// std::invalid_argument for other shapes, numbers that are not finite, and the removal of more rows than
/// there are.
GaussNewton with_rows(GaussNewton h, const at::Tensor& features, const at::Tensor& logits, int sign);

/// Returns the sum of two matrices of disjoint rows. Throws std::invalid_argument for other shapes.
GaussNewton merged(const GaussNewton& a, const GaussNewton& b);

/// Returns the eigenvalues of H, those that rounding made negative as 0. [k r]
at::Tensor eigenvalues(const GaussNewton& h);

/// The Gaussian posterior N(trained weights, (H + I / s^2)^-1) of the last layer's weights.
struct LaplacePosterior {
  double prior_sd = 1;  // s
  at::Tensor half;      // full: R = s (I + s^2 H)^-1/2, R^T R the covariance. [k r, k r]
  /// Whether the prior is so wide that H comes from its spectrum, so that rounding does not count as rows
  /// (identity_plus). R is lower triangular otherwise.
  bool wide = false;
  // Kronecker: eigenvectors of the two factors, and the posterior variance of each pair of them.
  at::Tensor of_features, of_classes;  // [r, r], [k, k]
  at::Tensor variances;                // [r, k]
};

/// Returns the posterior with prior sd s > 0 of every weight. It needs no jitter for any s: directions of
/// which no row tells anything keep the prior. O((k r)^3), with the Kronecker structure O(k^3 + r^3). Throws
/// NumericalError if H is not positive semidefinite: rows were removed that had not been added.
LaplacePosterior laplace_posterior(const GaussNewton& h, double prior_sd);

/// Returns the posterior covariance of the k logits at each row, (I (x) phi)^T (H + I / s^2)^-1 (I (x) phi).
/// A sum of squares: its diagonal is never negative. features [b, r]. [b, k, k]
at::Tensor logit_covariance(const LaplacePosterior& p, const at::Tensor& features, int64_t outputs);

/// Returns the covariance of the logits less their mean over the classes, P C P with P = I - 11^T / k and C
/// the logit_covariance. Softmax does not change with a common shift of the logits, so no training row tells
/// anything of the shift, and every entry of C holds its prior variance s^2 |phi|^2 / k; P C P is C without
/// it. A sum of squares, which no large s spoils. One logit has no such shift: C itself. features [b, r].
/// [b, k, k]
at::Tensor centred_logit_covariance(const LaplacePosterior& p, const at::Tensor& features, int64_t outputs);

/// Returns the log evidence of the Laplace approximation,
///   log p(y | W) - ||W||^2 / (2 s^2) - log |I + s^2 H| / 2,
/// from the log likelihood of the training rows at the trained weights W, their sum of squares and the
/// eigenvalues of H.
double laplace_evidence(double log_likelihood, double weights_squared, const at::Tensor& eigenvalues,
                        double prior_sd);

}  // namespace slimbayes
