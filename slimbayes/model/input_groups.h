#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/dataset.h"

namespace slimbayes {

// Rows with identical inputs are not independent evidence: the model gives all of them the same prediction,
// so they share its error. These functions group such rows and count the groups.

/// Returns the number of each row's group [n]. Rows with identical encoded inputs share a group. If `grouped`
/// is false, every row is a group of its own.
std::vector<int64_t> input_groups(const Dataset& rows, bool grouped);

/// Returns the number of different groups among the rows with the indices `rows`. group[i] is the group of
/// row i (input_groups).
int64_t count_groups(const std::vector<int64_t>& group, const std::vector<int64_t>& rows);

/// Returns a weight for each row index in `rows`: 1 / (number of these rows in its group). So every group has
/// the total weight 1. group[i] is the group of row i. With `weight` [rows.size()], the weights of these
/// rows, the rows of a group share its total weight of 1 in proportion to them. [rows.size()] float64
at::Tensor group_weights(const std::vector<int64_t>& group, const std::vector<int64_t>& rows,
                         const at::Tensor& weight = {});

/// Returns the sum of x over the rows of each group that has some of `rows`. x[i] is the number of the row
/// rows[i], group[r] the group of row r. [count_groups(group, rows)] float64
at::Tensor sums_by_group(const std::vector<int64_t>& group, const std::vector<int64_t>& rows,
                         const at::Tensor& x);

/// How many targets lie outside their intervals, with rows of identical inputs counted as one. `rows` is the
/// number of different inputs. Each input adds to `misses` the share of its rows that lie outside; the sum is
/// rounded down. With row weights (Dataset::weights) an input has the mean weight of its rows, `rows` is the
/// effective number of inputs (effective_rows in method/row_weights.h), and `misses` the weighted share of
/// it, both rounded down.
struct Misses {
  int64_t misses = 0, rows = 0;
};

/// Counts the rows whose target lies outside its Gaussian interval of this level. `p` are the answers to the
/// rows on the (standardised) target scale. If `grouped` is false, every row counts as an input of its own.
Misses misses_of(const Regression& p, const Dataset& rows, double level, bool grouped);

}  // namespace slimbayes
