#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// Returns the ranks of these values, shifted and scaled to the mean 0 and the sd 1; equal values share a
/// rank. 0 for NaN, and for all values of a constant column. [n] -> [n]. O(n log n).
std::vector<double> unit_ranks(const std::vector<double>& values);

/// Returns how probable it is that as many of the n rows, chosen at random, differ from the others in one of
/// the features by as much as these do: the permutation test of the largest absolute sum of a feature over
/// the rows (Westfall and Young 1993), with 1,999 random choices. Small: the features tell these rows from
/// the others. 1 for fewer than two rows, which one feature of many tells from the others by chance. Of more
/// than 50 rows, 50 are compared.
///
/// `feature(i)` returns feature i of `count` [n], of mean 0 and sd 1. O(count n) beside the features.
double contrast_p(int64_t n, const std::vector<int64_t>& rows, size_t count,
                  const std::function<std::vector<double>(size_t)>& feature, const Stream& stream);

}  // namespace slimbayes
