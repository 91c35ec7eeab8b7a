#pragma once

#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Batches of rows of like length, so that little of them is padding: the rows are shuffled, sorted by length
/// within stretches of fifty batches, cut, and the batches shuffled. lengths [n] int64; ceil(n / batch)
/// batches. Throws std::invalid_argument for no rows or a batch below 1.
BatchPlan plan_by_length(at::Tensor lengths, int64_t batch);

}  // namespace slimbayes
