#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns the default plan: a permutation of the rows, cut into `batches` batches of nearly equal size. The
/// sizes are nearly equal because the trace regulariser of some objectives (HeadObjective::alpha) takes a
/// maximum over the batch, which would tend to be smaller in a small last batch.
BatchPlan plan_of_equal_batches(int64_t rows, int64_t batches);

/// Returns a plan that draws the rows in proportion to their weights (Batch::weight): an epoch has as many
/// places as there are rows, and a row of weight w has on average w / mean(w) of them, with at most one place
/// more or less than that (systematic sampling: Madow and Madow 1944, on a random order of the rows). The
/// mean of any function over an epoch's batches is then in expectation that over the rows repeated by their
/// weights, also of functions that are no sum over rows, such as the statistics of a batch norm. Weights that
/// are all equal give the permutations of plan_of_equal_batches(). weights: [n] float64, > 0. Throws
/// std::invalid_argument for no rows or batches.
BatchPlan plan_of_weights(const at::Tensor& weights, int64_t batches);

/// Returns a plan whose batches contain rows of similar length, so that little of a batch is padding. The
/// plan shuffles the rows, sorts them by length within stretches of fifty batches, cuts them into ceil(n /
/// batch) batches and shuffles the batches. lengths: [n] int64. With `weights` [n] the rows of an epoch are
/// drawn as those of plan_of_weights(). Throws std::invalid_argument for no rows or a batch below 1.
BatchPlan plan_by_length(at::Tensor lengths, int64_t batch, const at::Tensor& weights = {});

/// Returns a plan for rows that lie on disk, where those of a block are read together: the blocks of `block`
/// rows come in random order, and the rows of as many blocks as `window` rows fill are shuffled together,
/// before they are cut into `batches` batches of nearly equal size. The indices of two windows are in memory.
/// A window of all rows gives permutations of all rows. Where several processes have a part of the rows each
/// (Source::OnDisk::parts), every batch takes of each part the same share of its rows, in the order of the
/// parts. Throws std::invalid_argument unless 1 <= block <= window, and for a part with less than two
/// rows a batch.
BatchPlan plan_of_windows(const std::vector<int64_t>& parts, int64_t batches, int64_t window, int64_t block);

}  // namespace slimbayes
