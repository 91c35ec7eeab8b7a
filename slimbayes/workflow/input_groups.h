#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/core/predictive.h"
#include "slimbayes/data/dataset.h"

namespace slimbayes {

// Rows with identical inputs are not independent: they share the error of the function. These functions count
// groups of such rows.

/// Returns the group number of each row. Rows with identical encoded inputs share a group. Without `grouped`,
/// every row is a group of its own. [n]
std::vector<int64_t> input_groups(const Dataset& rows, bool grouped);

/// Returns the number of groups that these rows belong to.
int64_t count_groups(const std::vector<int64_t>& group, const std::vector<int64_t>& rows);

/// Returns for each of `rows` 1 / the number of `rows` in its group. [rows]
at::Tensor group_weights(const std::vector<int64_t>& group, const std::vector<int64_t>& rows);

/// How many rows lie outside their intervals. Rows with identical inputs count as one, which lies outside as
/// often as they do on average; the sum is rounded down.
struct Misses {
  int64_t misses = 0, rows = 0;
};

/// Counts the rows outside the Gaussian intervals of this level around the answers `p` to them, on the
/// (standardised) target scale. Without `grouped`, every row counts.
Misses misses_of(const Regression& p, const Dataset& rows, double level, bool grouped);

}  // namespace slimbayes
