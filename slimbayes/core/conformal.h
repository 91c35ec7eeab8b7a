#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Conformity scores of calibration rows: rows that were used neither to train the model nor to choose among
/// models. The score of a regression is |y - mean| / sd, that of classes is set_scores. Rows with identical
/// inputs form one group, because they are not independent evidence.
struct ConformalScores {
  ConformalScores() = default;
  /// Each row is a group of its own. `scores` [m] must be ascending. Throws std::invalid_argument unless
  /// `scores` has one axis.
  ConformalScores(at::Tensor scores);
  /// `scores` [m] must be ascending. Scores with equal values in `group` [m] form one group; the values may
  /// be any numbers and are renumbered from 0. Throws std::invalid_argument unless both have shape [m].
  ConformalScores(at::Tensor scores, const at::Tensor& group);

  at::Tensor value;    // [m] scores, ascending, float64
  at::Tensor group;    // [m] group of each score, from 0 to groups - 1
  int64_t groups = 0;  // number of groups; m if no inputs repeat; 0 if the model is not calibrated
};

/// Returns the scores |y - mean| / sd, ascending, where sd is the total predictive sd. y [m] in the answer's
/// units. [m] Throws std::invalid_argument if m = 0, for other shapes, if a value is not finite, or if the
/// total variance of a row is 0.
at::Tensor conformal_scores(const Regression& p, const at::Tensor& y);

/// Returns the same scores together with the group of each row; `group` has m numbers, equal for rows with
/// identical inputs. Throws std::invalid_argument under the same conditions, and unless `group` has m
/// numbers.
ConformalScores conformal_scores(const Regression& p, const at::Tensor& y, const std::vector<int64_t>& group);

/// Sorts scores [m], given in the order of the rows, together with the group of each row. Throws
/// std::invalid_argument unless `group` has m numbers.
ConformalScores sorted_scores(const at::Tensor& scores, const std::vector<int64_t>& group);

/// Returns the least number m of calibration rows (or groups of rows) that a finite interval of this level
/// needs: the least m with ceil((m + 1) level) <= m. Throws std::invalid_argument unless 0 < level < 1.
int64_t conformal_rows(double level);

/// Throws std::invalid_argument if `groups` is less than conformal_rows(level); the message says how many are
/// needed. `rows` is the number of rows in these groups, for the message. Also throws unless 0 < level < 1.
void check_conformal_rows(int64_t groups, double level, int64_t rows);

/// Returns the 5 % and the 95 % quantile of the coverage that intervals of this level really have. The
/// coverage depends on the calibration rows that were drawn: for m `groups` and scores without ties it is
/// distributed as Beta(k, m + 1 - k), k = ceil((m + 1) level) (Vovk 2012). With ties, and for deterministic
/// sets, it is at least as high. Throws as check_conformal_rows.
std::pair<double, double> coverage_range(int64_t groups, double level);

/// Returns the conformal factor: how many sds the interval must reach on either side so that a row of a new
/// group, exchangeable with the calibration groups, lies inside with probability of at least `level`. If each
/// row is a group of its own, the factor is the ceil((m + 1) level)-th smallest score (Vovk et al. 2005; Lei
/// et al. 2018, theorem 2). Otherwise each row of a group of n weighs 1 / n, and the factor is the least
/// score at which the cumulative weight reaches (groups + 1) level (Lee, Barber and Willett 2023, theorem 1).
/// Throws under the same conditions as check_conformal_rows.
double conformal_factor(const ConformalScores& scores, double level);

/// Returns the interval mean -+ conformal_factor(scores, level) sd. It is widened by a relative 1e-9 and by
/// the rounding error of the mean, so that a row whose score equals the factor lies inside. The mean and
/// variances of `p` do not change.
Interval conformal_interval(const Regression& p, const ConformalScores& scores, double level);

}  // namespace slimbayes
