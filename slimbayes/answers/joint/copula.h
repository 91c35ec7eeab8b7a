#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/core/random.h"

namespace slimbayes {

// The joint answer to k targets: the answer of each target as it is, joined by a Gaussian copula. The normal
// scores z_j of the targets (normal_score in answers/density.h) of a row then have the distribution N(0, R)
// with the correlation matrix R [k, k], and the joint density is c(z) times the product of the densities of
// the targets. All functions throw std::invalid_argument if the shapes do not match or `correlation` is not
// a correlation matrix, and NumericalError if it is not positive definite. answers/joint/box_probability.h
// and answers/joint/region.h have its probabilities.

/// Returns the log density of the Gaussian copula with the correlation R at the normal scores z [n, k],
///   log c(z) = -1/2 log|R| - 1/2 z^T (R^-1 - I) z,
/// in nats. The entries of a row that are NaN are unknown targets: the row has the density of its known ones,
/// with the submatrix of R, and 0 if fewer than two are known. Scores count as at most kFarthestNormalScore
/// (answers/joint/normal_scores.h), so that the density of a row is finite where that of a target is 0. [n]
/// float64
at::Tensor copula_row_log_density(const at::Tensor& z, const at::Tensor& correlation);

/// Returns draws of the normal scores of `rows` rows: each is N(0, correlation), and all are independent. The
/// quantiles of the targets at these scores are joint draws of the targets. Draw s of row i depends on
/// neither the number of rows nor that of draws, in any bit. Throws std::invalid_argument if a number is
/// negative, too. [draws, rows, k] float64
at::Tensor copula_scores(const at::Tensor& correlation, int64_t rows, int64_t draws, const Stream& stream);

}  // namespace slimbayes
