#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
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

  /// Returns how many new rows' weights the scores have together, rounded down: the number of groups without
  /// weights. conformal_factor() needs conformal_rows(level) of them.
  int64_t units() const;

  at::Tensor value;    // [m] scores, ascending, float64
  at::Tensor group;    // [m] group of each score, from 0 to groups - 1
  int64_t groups = 0;  // number of groups; m if no inputs repeat; 0: the model is not calibrated
  /// [m] weight of each score where that of the new row is 1 (conformal_weights), > 0, float64; undefined:
  /// each row of a group of n weighs 1 / n.
  at::Tensor weight;
};

/// The cell of a row in the column that calibrates by groups, as text; nullopt: a missing cell, which is a
/// group of its own.
using GroupCell = std::optional<std::string>;

/// How the m scores of a ConformalScores fall into the groups of a column (FitOptions::calibrate_by):
/// Mondrian conformal prediction (Vovk, Gammerman and Shafer 2005, section 4.5; Romano, Barber, Sabatti and
/// Candes 2020 call it equalized coverage). These groups are not ConformalScores::group, the rows of
/// identical inputs, which stay together inside each of them.
struct GroupCalibration {
  std::vector<GroupCell> cells;  // of each group, all different, in ascending order; empty: no such groups
  at::Tensor of;                 // [m] group of each score, from 0 to cells.size() - 1, int64
  /// [m] ConformalScores::weight of each score among those of its own group alone; undefined without weights.
  at::Tensor weight;

  bool empty() const { return cells.empty(); }
};

/// Returns the scores of one group, from 0 to cells.size() - 1, as those of a calibration of its own.
SLIMBAYES_EXPORT ConformalScores scores_of_group(const ConformalScores& all, const GroupCalibration& groups,
                                                 int64_t group);

/// Returns whether these scores of one group suffice for a quantile of their own at this level: at least
/// conformal_rows(level) units (ConformalScores::units).
SLIMBAYES_EXPORT bool suffices(const ConformalScores& own, double level);

/// What the weights of calibration rows mean. importance: how much more frequent such rows are among the rows
/// to answer than among those of calibration; only their quotients count. counts: how many equal rows one
/// stands for, of which groups of identical inputs count once. counts_of_rows: the same where every row is
/// its own group, as in a random split, so that each of the equal rows counts.
enum class ConformalWeight { importance, counts, counts_of_rows };

/// Returns the weight of each calibration row in a conformal quantile, where the new row has the weight 1
/// (ConformalScores::weight). `weight` [m], each > 0, are the weights of the rows, and `group` their groups.
///   importance      A group weighs the mean of its rows' weights and its rows share that in proportion to
///                   their weights; all are divided so that the sum is the number of groups. Weighted
///                   conformal prediction (Tibshirani et al. 2019, Conformal prediction under covariate
///                   shift) gives the new row its own weight. It is not known, so the mean weight takes its
///                   place: the level then holds for a row of about the mean weight or less, and up to the
///                   error of the weights.
///   counts          A group weighs 1 and its rows share that in proportion to their counts.
///   counts_of_rows  A row weighs its count: the quantile is that of the rows repeated.
/// Equal weights give 1 / n to each row of a group of n, for counts_of_rows their count. [m] Throws
/// std::invalid_argument unless there are m weights and groups and each weight is finite and > 0.
SLIMBAYES_EXPORT at::Tensor conformal_weights(const at::Tensor& weight, const std::vector<int64_t>& group,
                                              ConformalWeight kind);

/// The state of adaptive conformal intervals of a series: the scores of the latest targets, in the order of
/// their times. The factor of every level is a function of them (answers/calibration/adaptive_conformal.h),
/// so that no level has to be chosen before. A value; advanced() makes the next state.
struct AdaptiveScores {
  /// Number of scores that a state keeps. Older ones are dropped; the tracking then begins at the oldest that
  /// is left.
  static constexpr int64_t kMost = 2000;

  std::vector<double> scores;  // [m] oldest first, each in [0, kUncoverable], m <= kMost
  int64_t seen = 0;            // number of scores that the state has gone through, >= m
};

/// The score of a target that no interval reaches, in sds. No score of an answer with a density is larger.
inline constexpr double kUncoverable = 1e6;

/// Returns the scores of conformal_scores(p, y) in the order of the rows. [m] Throws as that function does.
SLIMBAYES_EXPORT at::Tensor unsorted_scores(const Regression& p, const at::Tensor& y);

/// Returns the conformity scores of a regression, |y - mean| / sd with the total predictive sd or, of an
/// answer with a density, |normal_score| (answers/density.h), in ascending order. y [m] in the units of the
/// predictive. [m] Throws std::invalid_argument if there are no rows, if the shapes do not match, if a value
/// is not finite, or if the total variance of a row is 0.
SLIMBAYES_EXPORT at::Tensor conformal_scores(const Regression& p, const at::Tensor& y);

/// Returns the conformity scores |y - mean| / sd of a regression together with the group of each row. `group`
/// holds m numbers, equal for rows with identical inputs; `weight` as in sorted_scores(). Throws
/// std::invalid_argument as conformal_scores(p, y) does, and unless `group` has m numbers.
SLIMBAYES_EXPORT ConformalScores conformal_scores(const Regression& p, const at::Tensor& y,
                                                  const std::vector<int64_t>& group,
                                                  const at::Tensor& weight = {});

/// Returns the ConformalScores of m rows from their scores [m] and group numbers, both in the order of the
/// rows. It sorts the scores and reorders the groups in the same way, and the weights, which are those of
/// conformal_weights() or undefined. Throws std::invalid_argument unless `group` has m numbers.
SLIMBAYES_EXPORT ConformalScores sorted_scores(const at::Tensor& scores, const std::vector<int64_t>& group,
                                               const at::Tensor& weight = {});

/// Returns a range for the true coverage of conformal intervals: its 5 % and its 95 % quantile. The true
/// coverage is near the level but not equal to it, because it depends on which calibration rows were drawn.
/// With m = `groups` and no ties among the scores it is distributed as Beta(k, m + 1 - k), k = ceil((m + 1)
/// level) (Vovk 2012). With ties, and for deterministic sets, it is at least as high. Throws
/// std::invalid_argument as check_conformal_rows does.
SLIMBAYES_EXPORT std::pair<double, double> coverage_range(int64_t groups, double level);

/// Returns coverage_range() for the groups of these scores. With weights the number of groups is Kish's
/// effective one, (sum G)^2 / sum G^2 of the weights G of the groups, rounded, but at least that which the
/// level needs: unequal weights make the coverage less certain. This is an approximation; the law of the
/// coverage under weights is not a Beta law.
SLIMBAYES_EXPORT std::pair<double, double> coverage_range(const ConformalScores& scores, double level);

/// Returns the conformal factor: the quantile of the scores that a new row does not exceed with probability
/// of at least `level`. The new row must belong to a new group that is exchangeable with the calibration
/// groups. For a regression the factor is the number of sds that the interval reaches to either side of the
/// mean; for classes it is the threshold on set_scores(). If each row is a group of its own, it is the
/// ceil((m + 1) level)-th smallest score (Vovk et al. 2005; Lei et al. 2018, theorem 2). Otherwise each row
/// of a group of n rows weighs 1 / n, and the factor is the least score at which the cumulative weight
/// reaches (groups + 1) level (Lee, Barber and Willett 2023, theorem 1). With ConformalScores::weight it is
/// the least score at which the cumulative weight reaches (W + 1) level, where W is the sum of the weights
/// and 1 that of the new row. Throws std::invalid_argument as check_conformal_rows does, for W in the place
/// of the number of groups.
SLIMBAYES_EXPORT double conformal_factor(const ConformalScores& scores, double level);

/// Returns the calibrated interval of each row, mean -+ factor sd, where factor is
/// conformal_factor(scores, level) and sd the total predictive sd; of an answer with a density, the interval
/// between its quantiles at the normal scores -+ factor. It is wider by a relative 1e-9 and by the
/// rounding error of the mean, so that a row whose score equals the factor lies inside. Throws
/// std::invalid_argument as check_conformal_rows does.
SLIMBAYES_EXPORT Interval conformal_interval(const Regression& p, const ConformalScores& scores,
                                             double level);

/// Returns the interval of each row that reaches `factor` >= 0 sds, or normal scores, to either side, as
/// conformal_interval() does for conformal_factor().
SLIMBAYES_EXPORT Interval interval_of_factor(const Regression& p, double factor);

}  // namespace slimbayes
