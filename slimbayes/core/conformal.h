#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// The scores, |y - mean| / sd of a regression, of rows that neither trained the model nor chose among
/// models, ascending, and which of them count together: rows with identical inputs are no independent
/// evidence.
struct ConformalScores {
  ConformalScores() = default;
  /// Every row counts. [m]
  ConformalScores(at::Tensor scores);
  /// `scores` [m] must be ascending. Scores with equal values in `group` [m] form one group; the values may
  /// be any numbers and are renumbered from 0. Throws std::invalid_argument unless both have shape [m].
  ConformalScores(at::Tensor scores, const at::Tensor& group);

  at::Tensor value;    // [m] ascending, float64
  at::Tensor group;    // [m] from 0 to below `groups`
  int64_t groups = 0;  // m, where every row counts
};

/// y [m] in the answer's units; -> [m]. Throws std::invalid_argument for m = 0, other shapes, a value that is
/// not finite, or a row whose total variance is 0.
at::Tensor conformal_scores(const Regression& p, const at::Tensor& y);

/// The same with the group of each row. [m]
ConformalScores conformal_scores(const Regression& p, const at::Tensor& y, const std::vector<int64_t>& group);

/// Scores [m] in the order of the rows, with the group of each. Throws std::invalid_argument for other
/// shapes.
ConformalScores sorted_scores(const at::Tensor& scores, const std::vector<int64_t>& group);

/// The least m with ceil((m + 1) level) <= m: the rows, or groups of rows, without which no finite interval
/// has this level. Throws std::invalid_argument unless 0 < level < 1.
int64_t conformal_rows(double level);

/// Throws std::invalid_argument when `groups` are fewer than conformal_rows(level), saying how many it needs.
/// `rows` are those in the groups.
void check_conformal_rows(int64_t groups, double level, int64_t rows);

/// How many sds an interval must reach so that a row of a further group, exchangeable with these, lies inside
/// with probability of at least `level`. Where every row counts: the ceil((m + 1) level)-th smallest score
/// (Vovk et al. 2005; Lei et al. 2018, theorem 2). Else the least score at which the rows up to it weigh
/// (groups + 1) level, a row of a group of n weighing 1 / n (Lee, Barber and Willett 2023, theorem 1). Throws
/// as check_conformal_rows does.
double conformal_factor(const ConformalScores& scores, double level);

/// mean -+ conformal_factor(scores, level) sd, wider by 1e-9 of it and by the mean's rounding: a row whose
/// score is the factor lies inside. Mean and variances stay what they are.
Interval conformal_interval(const Regression& p, const ConformalScores& scores, double level);

}  // namespace slimbayes
