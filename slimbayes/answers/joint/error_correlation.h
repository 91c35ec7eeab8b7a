#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The least number of rows from which a pair's correlation is estimated. With fewer it is 0.
inline constexpr int64_t kLeastPairRows = 8;

/// The smallest eigenvalue that an estimated correlation matrix may have. It keeps the density of the copula
/// from resting on differences between targets that a few held-out rows did not show: two targets correlate
/// by at most 1 - 1e-3.
inline constexpr double kLeastCorrelationEigenvalue = 1e-3;

/// Returns the correlation of the normal scores z [m, k] of the held-out targets, NaN where a target is
/// unknown. `weight` [m] is the importance of the rows, finite and >= 0, or undefined: all equal. Its scale
/// does not matter.
///
/// Each pair of targets has the correlation of the rows in which both are known (pairwise complete), or 0 if
/// these are fewer than kLeastPairRows or if one of the two does not vary in them. Rows of unequal weight
/// count as (sum w)^2 / sum w^2 rows. The matrix is then (1 - s) R + s I with the intensity s that minimises
/// the expected squared error, estimated by
///   s = sum of the estimated variances of the correlations / sum of their squares,  at most 1
/// over all pairs (Schaefer and Strimmer 2005, Statistical Applications in Genetics and Molecular Biology 4,
/// article 32, sections 2.3 and 2.4, with the identity as the target). With missing cells every pair has the
/// variance of its own rows, and all share one intensity.
///
/// Pairwise complete correlations need not be positive definite. If e is the smallest eigenvalue of R, that
/// of the result is (1 - s) e + s; where it would be below kLeastCorrelationEigenvalue = d, the intensity is
/// raised to (d - e) / (1 - e), at which it is d.
///
/// k = 1, or no pair with enough rows: the identity with an intensity of 1. Throws std::invalid_argument if
/// the shapes do not match, k is 0, or a weight is not finite and >= 0.
ErrorCorrelation error_correlation(const at::Tensor& z, const at::Tensor& weight = {});

}  // namespace slimbayes
