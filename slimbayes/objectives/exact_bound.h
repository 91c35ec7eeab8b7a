#pragma once

#include "slimbayes/core/gaussian_linear.h"

namespace slimbayes {

/// Exact training reads all rows twice in each step. Pass 1 collects these sums over all rows, and the
/// maximum of ||phi||^2, where phi are the features of a row. The network must not change during the pass.
/// Batches may be added in any order; the result is the same up to rounding.
struct ExactSums {
  LinearStatistics statistics;
  double correction = 0;    // sum of k~(x, x) - ||phi||^2
  double prior_var = 0;     // sum of ||phi||^2
  double largest = 0;       // max of ||phi||^2
  int64_t largest_row = 0;  // index of the first row with that maximum
};

/// Returns the sums of zero rows.
ExactSums exact_sums(int64_t rank);

/// Returns the sums with these rows added, each by its LinearRows::weight; `d` must be undefined. `first` is
/// the index of the first of these rows in the whole data.
/// `correction` [b] holds k~(x, x) - ||phi||^2 of each row (Expansion::correction in basis/basis.h); it is an
/// undefined tensor if phi does not approximate a kernel k~. Gradients are not tracked. Throws NumericalError
/// for features that are not finite.
ExactSums added(const ExactSums& sums, const LinearRows& rows, const at::Tensor& correction, int64_t first);

/// The bound evidence - penalty, which exact training maximises: log p(y) - trace / (2 noise_var), where
/// trace sums correction + alpha (max ||phi||^2 - ||phi||^2) over all rows. Without corrections and with
/// alpha = 0 it is the log evidence (N-11); with the corrections of inducing points it is the collapsed bound
/// (N-3); the term with alpha is the trace regulariser (E-11). The constant mean is the optimal one
/// (generalised least squares), so it has no gradient.
struct ExactBound {
  LinearPosterior posterior;
  EvidenceGradient evidence_gradient;
  double evidence = 0;        // log p(y)
  double penalty = 0;         // trace / (2 noise_var)
  double grad_noise_var = 0;  // d(evidence - penalty) / d noise_var
  double alpha = 0;
  int64_t largest_row = 0;
};

/// Computes the bound and its gradients from the sums of all rows. Throws std::invalid_argument and
/// NumericalError as linear_posterior does.
ExactBound exact_bound(const ExactSums& sums, double noise_var, double alpha);

/// The derivative of evidence - penalty with respect to the features of a row: S phi + (y - constant) c, and
/// `largest` phi in addition for the row ExactBound::largest_row.
struct FeatureDerivative {
  at::Tensor S;  // [r, r] float64, symmetric
  at::Tensor c;  // [r] float64
  double constant = 0, largest = 0;
};
FeatureDerivative feature_derivative(const ExactBound& bound);

/// Throws NumericalError unless the sum of the features, or of their products, is finite.
void check_features(const at::Tensor& features);

/// The result of pass 2 of exact training for a batch, on the device of its features: the derivative of
/// evidence - penalty with respect to the features and corrections of its rows, in closed form. Automatic
/// differentiation of the bound over all rows at once would give the same.
struct ExactRowGradient {
  at::Tensor features;    // [b, r] float64
  at::Tensor correction;  // scalar, the same for every row; [b] of rows with weights
};

/// Returns the gradient for these rows. `first` is the index in the whole data of the first of them, as in
/// added().
ExactRowGradient row_gradient(const ExactBound& bound, const LinearRows& rows, int64_t first);

}  // namespace slimbayes
