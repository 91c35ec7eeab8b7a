#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/catalog/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The predictive density of a regression, which is one Gaussian per row or a mixture of DensityComponents
/// (Regression::density). The functions below are exact for both. p has n rows; y is [n], finite. All throw
/// std::invalid_argument if the shapes do not match or a variance is not finite and > 0.

/// Returns the regression whose density is the mixture of `components`, with the weights divided by their
/// sum. Its mean and variances are those of the mixture: the aleatoric variance is the mean of the
/// components', the epistemic variance that of theirs plus the variance of their means (law of total
/// variance). Throws std::invalid_argument if there is none, a weight is not > 0, or dof <= 2, where a
/// Student-t distribution has no variance.
SLIMBAYES_EXPORT Regression mixed(std::vector<DensityComponent> components);

/// Returns the answer to a target within bounds, from the answer `p` to its transform without bounds
/// (TargetBounds::unbounded): the same density, seen through the inverse transform. Its quantiles are those
/// of p, transformed; its mean and its variances are those of the target, for two bounds by quadrature
/// (density/logistic_moments.h). p.least and p.most become the bounds. Throws std::invalid_argument if a
/// component is warped, or has a Student-t distribution with one bound alone, where the target has no mean.
SLIMBAYES_EXPORT Regression bounded(const Regression& p, const TargetBounds& bounds);

/// Returns the components of p; of a Gaussian p one component.
SLIMBAYES_EXPORT std::vector<DensityComponent> components_of(const Regression& p);

/// Returns -log p(y) of each row, in nats. Infinite where no component has y in its range. [n]
SLIMBAYES_EXPORT at::Tensor regression_row_nll(const Regression& p, const at::Tensor& y);

/// Returns the mean of regression_row_nll, by `weight` [n] (answers/metrics.h) if it is defined.
SLIMBAYES_EXPORT double regression_nll(const Regression& p, const at::Tensor& y,
                                       const at::Tensor& weight = {});

/// Returns log P(lower <= Y <= upper) of each row, in nats, with a relative error below 1e-12 far in the
/// tails and in narrow intervals, too (density/truncated.h). Bounds may be infinite. -inf where lower = upper
/// and where no component has the interval in its range. lower, upper [n]; throws std::invalid_argument if a
/// bound is NaN or lower > upper. [n]
SLIMBAYES_EXPORT at::Tensor log_probability_between(const Regression& p, const at::Tensor& lower,
                                                    const at::Tensor& upper);

/// Returns z with P(Y <= y) = Phi(z), the standard normal cdf. For a Gaussian it is (y - mean) / sd. Computed
/// from the smaller tail, so that it is accurate far out. [n]
SLIMBAYES_EXPORT at::Tensor normal_score(const Regression& p, const at::Tensor& y);

/// Returns the quantile of each row whose normal score is `z`: z = 0 is the median, and the central interval
/// of level L ends at z = -+ normal_quantile((1 + L) / 2). From p.least to p.most. A mixture's quantile is
/// found to a relative 1e-12 of the sd. Throws NumericalError if that fails. [n]
SLIMBAYES_EXPORT at::Tensor quantile(const Regression& p, double z);

/// Returns the quantiles of each row at several normal scores, of which every row has its own: element [s, i]
/// is the quantile of row i whose normal score is z[s, i]. As quantile() otherwise. z [S, n] finite. Throws
/// std::invalid_argument for another shape. [S, n]
SLIMBAYES_EXPORT at::Tensor quantiles(const Regression& p, const at::Tensor& z);

/// Returns the CRPS of each row: the integral of (P(Y <= x) - [x >= y])^2 over x. In closed form for one
/// unwarped component, else by Gauss-Legendre quadrature between the quantiles of the components, with an
/// error below 1e-4 of the sd. [n]
SLIMBAYES_EXPORT at::Tensor regression_row_crps(const Regression& p, const at::Tensor& y);

}  // namespace slimbayes
