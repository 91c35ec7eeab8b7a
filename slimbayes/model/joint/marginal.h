#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/catalog/task.h"

namespace slimbayes {

// The distribution F of one target in each of n rows, as a copula sees it: by normal scores z with
// F(y) = Phi(z). The target is a number (Regression) or a count (Counts); other predictives throw
// std::invalid_argument. Float64.

/// The largest normal score of a count, to either side. Beyond it the cdf of a count is not known: its
/// absolute error of 1e-8 (poisson_lognormal_cdf) is as large as the tail.
inline constexpr double kFarthestCount = 5.6;

/// Returns whether answers to this task have normal scores: numbers and counts have, classes and events have
/// not.
bool has_scores(TaskKind task);

/// Returns the normal score of the target of each row. Of a number z = Phi^-1(F(y)). The cdf of a count jumps
/// at y, and its score is one between both ends, Phi^-1(F(y - 1) + u (F(y) - F(y - 1))) with u [n] in (0, 1)
/// (the randomised residual of Dunn and Smyth 1996): if F is right and u uniform, it is standard normal. y
/// [n] in the target's units. [n]
at::Tensor marginal_scores(const Predictive& p, const at::Tensor& y, const at::Tensor& u);

/// Returns the z with F(y) = Phi(z) of each row, for one y for all rows; infinite where F is 0 or 1. [n]
at::Tensor score_at(const Predictive& p, double y);

/// Returns the y at the normal score z of each row, the least one with F(y) >= Phi(z). For a z of its own for
/// each element, z [S, n] and the result [S, n]; or one z for all rows, the result [n]. Scores of counts
/// beyond kFarthestCount count as it.
at::Tensor marginal_quantiles(const Predictive& p, const at::Tensor& z);
at::Tensor marginal_quantile(const Predictive& p, double z);

/// Returns log p(y) of the density of each row, of a count its log probability. [n]
at::Tensor marginal_log_density(const Predictive& p, const at::Tensor& y);

}  // namespace slimbayes
