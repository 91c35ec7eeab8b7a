#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/prediction_set.h"

namespace slimbayes {

/// The cell of a row in the column that calibrates by groups, as text; nullopt: a missing cell, which is a
/// group of its own.
using GroupCell = std::optional<std::string>;

/// How the m scores of a ConformalScores fall into the groups of a column (FitOptions::calibrate_by): Mondrian
/// conformal prediction (Vovk, Gammerman and Shafer 2005, section 4.5; Romano, Barber, Sabatti and Candes 2020
/// call it equalized coverage). These groups are not ConformalScores::group, the rows of identical inputs,
/// which stay together inside each of them.
struct GroupCalibration {
  std::vector<GroupCell> cells;  // of each group, all different, in ascending order; empty: no such groups
  at::Tensor of;                 // [m] group of each score, from 0 to cells.size() - 1, int64
  /// [m] ConformalScores::weight of each score among those of its own group alone; undefined without weights.
  at::Tensor weight;

  bool empty() const { return cells.empty(); }
};

/// Returns the groups of m calibration rows. `cells`, `inputs` (equal numbers for rows with identical inputs)
/// and `weight` (of the rows as given, or undefined; `kind` says what they mean) are in the order of the rows;
/// `order` [m] is the row of each score in ascending order of the scores. The weights of each group are
/// conformal_weights() of its rows. Throws std::invalid_argument unless all have m entries, m > 0.
SLIMBAYES_EXPORT GroupCalibration group_calibration(const std::vector<GroupCell>& cells,
                                                    const at::Tensor& order,
                                                    const std::vector<int64_t>& inputs,
                                                    const at::Tensor& weight = {},
                                                    ConformalWeight kind = ConformalWeight::importance);

/// Returns the scores of one group, from 0 to cells.size() - 1, as those of a calibration of its own.
SLIMBAYES_EXPORT ConformalScores scores_of_group(const ConformalScores& all, const GroupCalibration& groups,
                                                 int64_t group);

/// Returns whether these scores of one group suffice for a quantile of their own at this level: at least
/// conformal_rows(level) units (ConformalScores::units).
SLIMBAYES_EXPORT bool suffices(const ConformalScores& own, double level);

/// Returns the group of each row with these cells [n]; -1 for a cell that no calibration row had.
SLIMBAYES_EXPORT std::vector<int64_t> groups_of_cells(const GroupCalibration& groups,
                                                      const std::vector<GroupCell>& cells);

/// Returns conformal_interval() of each row from the scores of its own group if they suffice for the level,
/// else from all scores. `group` [n] comes from groups_of_cells(). If a row is exchangeable with the
/// calibration rows of its group, its interval holds the target with probability of at least `level`, given
/// the group. The rows of all other groups hold that only on average over them all, and only if they are
/// exchangeable with all calibration rows. Throws std::invalid_argument unless `group` has n entries, and as
/// conformal_interval() where some row needs all scores.
SLIMBAYES_EXPORT Interval group_interval(const Regression& p, const std::vector<int64_t>& group,
                                         const ConformalScores& all, const GroupCalibration& groups,
                                         double level);

/// Returns prediction_set() of each row, in the same way; deterministic_set() if `u` is undefined.
SLIMBAYES_EXPORT PredictionSet group_set(const Classes& p, const at::Tensor& u,
                                         const std::vector<int64_t>& group, const ConformalScores& all,
                                         const GroupCalibration& groups, double level);

}  // namespace slimbayes
