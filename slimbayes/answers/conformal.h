#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The conformity scores of m calibration rows, from which split conformal prediction computes calibrated
/// intervals and sets. A score says how badly the prediction fits the target of its row: |y - mean| / sd for
/// a regression, set_scores() for classes. Calibration rows were used neither to train the model nor to
/// choose among models. Rows with identical inputs form one group, because they are not independent evidence.
struct SLIMBAYES_EXPORT ConformalScores {
  ConformalScores() = default;
  /// Makes each row a group of its own. Throws std::invalid_argument unless `scores` has shape [m] and is in
  /// ascending order.
  ConformalScores(const at::Tensor& scores);
  /// Makes one group of all rows that have the same number in `group` [m]. The numbers may be any; they are
  /// replaced by 0, 1, ... Throws std::invalid_argument unless `scores` and `group` have shape [m] and
  /// `scores` is in ascending order.
  ConformalScores(at::Tensor scores, const at::Tensor& group);

  at::Tensor value;    // [m] scores, ascending, float64
  at::Tensor group;    // [m] group of each score, from 0 to groups - 1
  int64_t groups = 0;  // number of groups; m if no inputs repeat; 0: the model is not calibrated
};

/// Returns the conformity scores of a regression, |y - mean| / sd with the total predictive sd or, of an
/// answer with a density, |normal_score| (answers/density.h), in ascending order. y [m] in the units of the
/// predictive. [m] Throws std::invalid_argument if there are no rows, if the shapes do not match, if a value
/// is not finite, or if the total variance of a row is 0.
SLIMBAYES_EXPORT at::Tensor conformal_scores(const Regression& p, const at::Tensor& y);

/// Returns the conformity scores |y - mean| / sd of a regression together with the group of each row. `group`
/// holds m numbers, equal for rows with identical inputs. Throws std::invalid_argument as
/// conformal_scores(p, y) does, and unless `group` has m numbers.
SLIMBAYES_EXPORT ConformalScores conformal_scores(const Regression& p, const at::Tensor& y,
                                                  const std::vector<int64_t>& group);

/// Returns the ConformalScores of m rows from their scores [m] and group numbers, both in the order of the
/// rows. It sorts the scores and reorders the groups in the same way. Throws std::invalid_argument unless
/// `group` has m numbers.
SLIMBAYES_EXPORT ConformalScores sorted_scores(const at::Tensor& scores, const std::vector<int64_t>& group);

/// Returns a range for the true coverage of conformal intervals: its 5 % and its 95 % quantile. The true
/// coverage is near the level but not equal to it, because it depends on which calibration rows were drawn.
/// With m = `groups` and no ties among the scores it is distributed as Beta(k, m + 1 - k), k = ceil((m + 1)
/// level) (Vovk 2012). With ties, and for deterministic sets, it is at least as high. Throws
/// std::invalid_argument as check_conformal_rows does.
SLIMBAYES_EXPORT std::pair<double, double> coverage_range(int64_t groups, double level);

/// Returns the conformal factor: the quantile of the scores that a new row does not exceed with probability
/// of at least `level`. The new row must belong to a new group that is exchangeable with the calibration
/// groups. For a regression the factor is the number of sds that the interval reaches to either side of the
/// mean; for classes it is the threshold on set_scores(). If each row is a group of its own, it is the
/// ceil((m + 1) level)-th smallest score (Vovk et al. 2005; Lei et al. 2018, theorem 2). Otherwise each row
/// of a group of n rows weighs 1 / n, and the factor is the least score at which the cumulative weight
/// reaches (groups + 1) level (Lee, Barber and Willett 2023, theorem 1). Throws std::invalid_argument as
/// check_conformal_rows does.
SLIMBAYES_EXPORT double conformal_factor(const ConformalScores& scores, double level);

/// Returns the calibrated interval of each row, mean -+ factor sd, where factor is
/// conformal_factor(scores, level) and sd the total predictive sd; of an answer with a density, the interval
/// between its quantiles at the normal scores -+ factor. It is wider by a relative 1e-9 and by the
/// rounding error of the mean, so that a row whose score equals the factor lies inside. Throws
/// std::invalid_argument as check_conformal_rows does.
SLIMBAYES_EXPORT Interval conformal_interval(const Regression& p, const ConformalScores& scores,
                                             double level);

}  // namespace slimbayes
