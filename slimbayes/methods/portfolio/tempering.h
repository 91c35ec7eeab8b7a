#pragma once

#include <ATen/core/Tensor.h>

#include <limits>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// A correction of the spread and the tails of a regression.
struct Tempering {
  double factor = 1;                                     // of every variance, > 0
  double dof = std::numeric_limits<double>::infinity();  // of a Student-t distribution, > 2; infinite: none
  /// The share of the rows that are wild, in [0, 1), and the factor of their variance beside that of the
  /// others, > 1: the contaminated normal distribution (Tukey 1960). Not together with a finite dof.
  double wild_share = 0, wild_factor = 1;
};

/// Returns p with the correction. Each Gaussian component becomes a Student-t distribution of the same mean
/// and variance, or two Gaussians of the same mean. A component of a log target stays a Gaussian of the log
/// target, whose variance the factor multiplies: the exponential of anything with heavier tails has no useful
/// mean. Its wild rows are Gaussian in the target as it is, with the mean of the component after the factor
/// and `wild_factor` times the variance of its target. Throws std::invalid_argument if a field of `by` is out
/// of its range.
Regression tempered(const Regression& p, const Tempering& by);

/// The degrees of freedom, and the factor of the variance, of wrong cells.
inline constexpr double kWildCellDof = 2.05, kWildCellFactor = 25;

/// Returns p for a target of which the share `wild` of the cells is wrong and says nothing: beside p a
/// Student-t distribution with 2.05 degrees of freedom around its mean, with this weight and 25 times its
/// variance. A wrong cell of any size then has a density, while the sd and the quantiles are hardly larger
/// than those of p, because the size of a wrong cell does not tell how the target varies. `wild` in [0, 1); p
/// as it is for 0.
Regression contaminated(const Regression& p, double wild);

/// Returns the correction with the lowest NLL on held-out rows: the factor of the variance, by
/// one-dimensional minimisation (Brent), and with `tails` a Student-t distribution (Brent) or wild rows
/// (expectation maximisation; only if p has one component). The answer stays Gaussian unless another is
/// better by more than two nats in all for each parameter more, twice what AIC asks. The factor is at least
/// 1e-3: where all residuals are 0, no factor would be the best. With fewer than 5 rows nothing is corrected.
/// A row counts `weights` [n] times (Dataset::weights; undefined: once). y [n]. Throws as regression_nll.
Tempering fitted_tempering(const Regression& p, const at::Tensor& y, bool tails,
                           const at::Tensor& weights = {});

/// Returns p with these probabilities [n, C] in place of its own. The expected entropy keeps its share of the
/// predictive entropy, so that the mutual information is scaled with it.
Classes with_probabilities(const Classes& p, at::Tensor probabilities);

/// Returns p with each probability raised to `power`, the inverse of a temperature (Guo et al. 2017), and
/// divided by their sum; see with_probabilities(). Throws std::invalid_argument unless power is finite and
/// > 0.
Classes tempered(const Classes& p, double power);

/// The range of the powers that fitted_power() returns.
inline constexpr double kLeastPower = 0.1, kMostPower = 10;

/// Returns the power of the probabilities with the lowest NLL on held-out rows, from 1/10 to 10, by
/// one-dimensional minimisation (Brent). It is 1 with fewer than 5 rows, and where another is better by less
/// than two nats in all. A row counts `weights` [n] times, as in
/// fitted_tempering(). y [n] are the numbers of the classes. Throws as class_row_nll.
double fitted_power(const Classes& p, const at::Tensor& y, const at::Tensor& weights = {});

}  // namespace slimbayes
