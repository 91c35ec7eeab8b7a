#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/prediction_set.h"

namespace slimbayes {

// Conformal calibration group by group: answers from a GroupCalibration (answers/conformal.h).

/// Returns the groups of m calibration rows. `cells`, `inputs` (equal numbers for rows with identical inputs)
/// and `weight` (of the rows as given, or undefined; `kind` says what they mean) are in the order of the
/// rows; `order` [m] is the row of each score in ascending order of the scores. The weights of each group are
/// conformal_weights() of its rows. Throws std::invalid_argument unless all have m entries, m > 0.
GroupCalibration group_calibration(const std::vector<GroupCell>& cells, const at::Tensor& order,
                                   const std::vector<int64_t>& inputs, const at::Tensor& weight = {},
                                   ConformalWeight kind = ConformalWeight::importance);

/// Returns the group of each row with these cells [n]; -1 for a cell that no calibration row had.
std::vector<int64_t> groups_of_cells(const GroupCalibration& groups, const std::vector<GroupCell>& cells);

/// Returns conformal_interval() of each row from the scores of its own group if they suffice for the level,
/// else from all scores. `group` [n] comes from groups_of_cells(). If a row is exchangeable with the
/// calibration rows of its group, its interval holds the target with probability of at least `level`, given
/// the group. The rows of all other groups hold that only on average over them all, and only if they are
/// exchangeable with all calibration rows. Throws std::invalid_argument unless `group` has n entries, and as
/// conformal_interval() where some row needs all scores.
Interval group_interval(const Regression& p, const std::vector<int64_t>& group, const ConformalScores& all,
                        const GroupCalibration& groups, double level);

/// Returns prediction_set() of each row, in the same way; deterministic_set() if `u` is undefined.
PredictionSet group_set(const Classes& p, const at::Tensor& u, const std::vector<int64_t>& group,
                        const ConformalScores& all, const GroupCalibration& groups, double level);

}  // namespace slimbayes
