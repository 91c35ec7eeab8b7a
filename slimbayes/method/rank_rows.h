#pragma once

#include <vector>

#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// The rows of a fit that this process sums over, while the other ranks sum over the others.
struct RankRows {
  Dataset rows;
  int64_t first = 0;                  // the number of the first of them among all rows
  const Collective* ranks = nullptr;  // who has the others; nullptr: these are all rows
};

/// Returns the part of the rows that belongs to this rank, which is the one that it has on disk where every
/// rank has another (Source::OnDisk); all rows without ranks (nullptr), and where there are fewer rows than
/// ranks.
RankRows rows_of_rank(const Dataset& all, const Collective* ranks);

/// Returns the sum over the ranks of statistics of their rows, whose y_shift must be one; without ranks the
/// statistics themselves. All ranks get the same bits. Moves r^2 numbers of float64.
LinearStatistics summed(const LinearStatistics& own, const Collective* ranks);

/// Returns the largest of the numbers that the ranks have in a tensor, elementwise; without ranks the tensor.
at::Tensor largest_of_ranks(const at::Tensor& x, const Collective* ranks);

/// Returns the sums over the ranks of several statistics, such as those of the classes, in one message.
std::vector<LinearStatistics> summed(std::vector<LinearStatistics> own, const Collective* ranks);

/// Returns the rows of all ranks, in the order of the ranks, given those of this rank; without ranks the rows
/// themselves. own [m, ...] -> [n, ...]
at::Tensor rows_of_all(const at::Tensor& own, const Collective* ranks);

/// Replaces the tensors by their sums over the ranks, in one message; without ranks nothing happens. They
/// have one type.
void sum_over_ranks(const std::vector<at::Tensor>& tensors, const Collective* ranks);

}  // namespace slimbayes
