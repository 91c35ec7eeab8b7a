#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/core/predictive.h"
#include "slimbayes/data/dataset.h"

namespace slimbayes {

// Rows with identical inputs are not independent: the function's error is the same for all of them. These
// functions count groups of such rows.

/// Returns the group number of each row. Rows with identical encoded inputs share a group. Without `grouped`,
/// every row is a group of its own. [n]
std::vector<int64_t> input_groups(const Dataset& rows, bool grouped);

/// Returns the number of different groups among these rows.
int64_t count_groups(const std::vector<int64_t>& group, const std::vector<int64_t>& rows);

/// Returns for each row of `rows` the weight 1 / (number of `rows` in its group). [rows]
at::Tensor group_weights(const std::vector<int64_t>& group, const std::vector<int64_t>& rows);

/// The number of rows outside their intervals. Rows with identical inputs count as one row, which lies
/// outside by the share of them that do; the sum is rounded down.
struct Misses {
  int64_t misses = 0, rows = 0;
};

/// Counts the rows outside the Gaussian intervals of this level. `p` are the answers to the rows on the
/// (standardised) target scale. Without `grouped`, every row counts.
Misses misses_of(const Regression& p, const Dataset& rows, double level, bool grouped);

}  // namespace slimbayes
