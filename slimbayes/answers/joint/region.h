#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

// A joint region of k targets: the box between the quantiles of each target at the normal scores -c and c
// (quantile in answers/density.h). It contains the targets of a row if max_j |z_j| <= c.

/// Returns c with P(max_j |z_j| <= c) = level for z ~ N(0, correlation) [k, k]: the factor of the joint
/// region of this level, if the answers of the targets and the correlation are right. It lies between
/// normal_quantile((1 + level) / 2), that of one target, and normal_quantile((1 + level^(1/k)) / 2), that of
/// independent ones (Sidak 1967). Exact for k = 1 and for uncorrelated targets. Otherwise the probability has
/// the absolute error of box_probability with BoxLattice::fine: below 1e-4 for targets of one common factor
/// and k up to 12, which is a share of 1 - level at levels near 1. Equal arguments have equal results. Throws
/// std::invalid_argument unless 0 < level <= kMostLevel and `correlation` is a correlation matrix,
/// NumericalError if it is not positive definite.
double region_factor(const at::Tensor& correlation, double level);

/// Returns the conformity score of each row for joint regions, max_j |z_j| over its known targets; z [n, k],
/// NaN where a target is unknown. The factor of a calibrated region is conformal_factor
/// (answers/conformal.h) of these scores, sorted by sorted_scores; as there, a score is at most 1e6. Rows
/// with unknown targets have smaller scores than with all: calibrate on complete rows if the region is to
/// hold all targets. Throws std::invalid_argument if a row has no known target. [n] float64
at::Tensor region_scores(const at::Tensor& z);

}  // namespace slimbayes
