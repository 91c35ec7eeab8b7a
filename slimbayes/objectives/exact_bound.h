#pragma once

#include "slimbayes/core/gaussian_linear.h"

namespace slimbayes {

/// Pass 1 of exact training: what all rows say at fixed features. Additive over batches in any order.
struct ExactSums {
  LinearStatistics statistics;
  double correction = 0;    // sum of k~(x, x) - ||phi||^2
  double prior_var = 0;     // sum of ||phi||^2
  double largest = 0;       // max of ||phi||^2
  int64_t largest_row = 0;  // the first row that has it
};

ExactSums exact_sums(int64_t rank);

/// With these rows as well; `first` is the number of the first of them, correction [b] or undefined. No graph
/// is followed. Throws NumericalError for features that are not finite.
ExactSums added(const ExactSums& sums, const LinearRows& rows, const at::Tensor& correction, int64_t first);

/// log p(y) - trace / (2 noise_var), trace = sum correction + alpha sum (max ||phi||^2 - ||phi||^2): N-11,
/// N-3 or E-11. The constant mean is the best one (generalised least squares), so it has no gradient.
struct ExactBound {
  LinearPosterior posterior;
  EvidenceGradient evidence_gradient;
  double evidence = 0;        // log p(y)
  double penalty = 0;         // trace / (2 noise_var)
  double grad_noise_var = 0;  // d(evidence - penalty) / d noise_var
  double alpha = 0;
  int64_t largest_row = 0;
};

ExactBound exact_bound(const ExactSums& sums, double noise_var, double alpha);

/// Pass 2: d(evidence - penalty) with respect to these rows, in closed form. Equals automatic differentiation
/// of collapsed_bound over all rows at once.
struct ExactRowGradient {
  at::Tensor features;    // [b, r] float64
  at::Tensor correction;  // scalar, the same for every row
};

ExactRowGradient row_gradient(const ExactBound& bound, const LinearRows& rows, int64_t first);

}  // namespace slimbayes
