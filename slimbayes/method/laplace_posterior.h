#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The generalised Gauss-Newton matrix H of a classifier's negative log likelihood in the weights W [k, r] of
/// its last layer, summed over data rows (Daxberger et al. 2021, docs/references.md):
///   H = sum_i Lambda_i (x) phi_i phi_i^T, Lambda_i = diag(p_i) - p_i p_i^T,
/// where phi_i are the features and p_i the class probabilities of data row i, and (x) is the Kronecker
/// product. For one logit Lambda_i = p_i (1 - p_i). H does not depend on the labels, and the matrices of two
/// sets of data rows without a common row add up. With the Kronecker structure H is approximated by (sum_i
/// Lambda_i) (x) (sum_i phi_i phi_i^T) / n. A row of weight w counts as w equal rows. Float64.
struct GaussNewton {
  at::Tensor full;      // [k r, k r], k x k blocks of [r, r]; undefined with the Kronecker structure
  at::Tensor features;  // [r, r] sum of phi phi^T
  at::Tensor classes;   // [k, k] sum of Lambda
  double n = 0;         // data rows, by their weights

  int64_t rank() const { return features.size(0); }    // r
  int64_t outputs() const { return classes.size(0); }  // k
};

/// Returns H = 0, the matrix before any data row is added. `full`: with the full structure, else with the
/// Kronecker structure.
GaussNewton gauss_newton(int64_t outputs, int64_t rank, bool full);

/// Returns the matrix with b data rows added, or removed for sign -1. features [b, r], logits [b, k],
/// `weight` [b] > 0 of the rows, undefined if each counts once. O(b k^2 r^2), with the Kronecker structure
/// O(b (k^2 + r^2)). In a loop write `h = with_rows(std::move(h), ...)`, which changes the full matrix in
/// place. The rows may be on a device, which then makes the products. Throws std::invalid_argument for wrong
/// shapes, numbers that are not finite, or the removal of more rows than there are.
GaussNewton with_rows(GaussNewton h, const at::Tensor& features, const at::Tensor& logits, int sign,
                      const at::Tensor& weight = {});

/// Returns the Gauss-Newton matrix of two sets of data rows together, given the matrix of each set. The sets
/// must not share rows. Throws std::invalid_argument if the shapes or the structures (full, kronecker)
/// differ.
GaussNewton merged(const GaussNewton& a, const GaussNewton& b);

/// Returns the eigenvalues of H. Eigenvalues that rounding made negative are 0. [k r]
at::Tensor eigenvalues(const GaussNewton& h);

/// The Gaussian posterior of the last layer's weights: mean the trained weights, covariance (H + I / s^2)^-1.
/// Only the covariance is held, as a matrix for the full structure or as an eigendecomposition for the
/// Kronecker structure.
struct LaplacePosterior {
  double prior_sd = 1;  // s
  at::Tensor half;      // full structure: R [k r, k r] with R^T R the covariance; else undefined
  /// Whether the prior is so wide that rounding errors of s^2 H would exceed the identity in I + s^2 H
  /// (identity_plus). R then comes from the spectrum of H (otherwise it is lower triangular), and answers
  /// need float64 features.
  bool wide = false;
  // Kronecker structure: the eigenvectors of the features' and the classes' matrix, and the posterior
  // variance in the direction of each pair of eigenvectors. Undefined for the full structure.
  at::Tensor of_features, of_classes;  // [r, r], [k, k]
  at::Tensor variances;                // [r, k]
};

/// Returns the posterior for a prior sd s > 0 of every weight. It needs no jitter for any s: directions about
/// which no row has information keep the prior. O((k r)^3), with the Kronecker structure O(k^3 + r^3). Throws
/// NumericalError if H is not positive semidefinite, which happens if rows are removed that had not been
/// added.
LaplacePosterior laplace_posterior(const GaussNewton& h, double prior_sd);

/// Returns the posterior covariance of the k logits at each row, (I (x) phi)^T (H + I / s^2)^-1 (I (x) phi).
/// It is computed as a sum of squares, so its diagonal is never negative. features [b, r]; `outputs` is k.
/// [b, k, k]
at::Tensor logit_covariance(const LaplacePosterior& p, const at::Tensor& features, int64_t outputs);

/// Returns the covariance of the centred logits, that is, of each row's logits minus their mean over the
/// classes: P C P with P = I - 11^T / k and C the logit_covariance. Use it for softmax, which does not change
/// if all logits are shifted by the same number. The training rows therefore say nothing about this shift,
/// and every entry of C contains its prior variance s^2 |phi|^2 / k, which P C P does not. P C P is a sum of
/// squares and stays accurate for large s. For one logit there is no such shift: returns C. features [b, r];
/// `outputs` is k. [b, k, k]
at::Tensor centred_logit_covariance(const LaplacePosterior& p, const at::Tensor& features, int64_t outputs);

/// Returns the log evidence of the Laplace approximation,
///   log p(y | W) - ||W||^2 / (2 s^2) - log |I + s^2 H| / 2,
/// where W are the trained weights and s is prior_sd. `log_likelihood` is log p(y | W) of the training rows,
/// `weights_squared` is ||W||^2, and `eigenvalues` are those of H.
double laplace_evidence(double log_likelihood, double weights_squared, const at::Tensor& eigenvalues,
                        double prior_sd);

/// Returns the class probabilities averaged over Gaussian logits with this mean and covariance, in float64. A
/// row whose covariance is not finite gets the answer NaN. More than two classes are averaged over this many
/// draws. logits [b, k], covariance [b, k, k]
Predictive classes_of_gaussian(const at::Tensor& logits, const at::Tensor& covariance,
                               int64_t samples = 1024);

}  // namespace slimbayes
