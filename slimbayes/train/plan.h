#pragma once

#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns the default plan: a permutation of the rows, cut into `batches` batches of nearly equal size. The
/// sizes are nearly equal because the trace regulariser of some objectives (HeadObjective::alpha) takes a
/// maximum over the batch, which would tend to be smaller in a small last batch.
BatchPlan plan_of_equal_batches(int64_t rows, int64_t batches);

/// Returns a plan whose batches contain rows of similar length, so that little of a batch is padding. The
/// plan shuffles the rows, sorts them by length within stretches of fifty batches, cuts them into ceil(n /
/// batch) batches and shuffles the batches. lengths: [n] int64. Throws std::invalid_argument for no rows or a
/// batch below 1.
BatchPlan plan_by_length(at::Tensor lengths, int64_t batch);

}  // namespace slimbayes
