#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/random.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/method/rank_rows.h"

// Where a fit differs for rows that lie on disk (Source::on_disk). They do not fit into memory, so a method
// passes over them in their order (over_batches), adds up what it needs, and keeps no number of each row. Of
// several ranks each reads its own part of them alone (rows_of_rank).

namespace slimbayes {

bool are_on_disk(const Dataset& rows);

/// Returns the rows of a pass that ranks share where the rows lie on disk: there those of this rank, in
/// memory all of them.
RankRows readable_rows(const Dataset& rows, const Collective* ranks);

/// Returns which `k` of the rows make up a random sample without repetition, [k] int64, with 0 < k <= n. Rows
/// in memory come in random order. Rows on disk come in their order, one from each of k stretches of nearly
/// equal length: that reads every block at most once and takes no memory for the other rows.
at::Tensor drawn_rows(const Dataset& rows, int64_t k, const Stream& stream);

/// Returns the part of the rows with these indices that belongs to this rank; `index` undefined: of all rows.
/// Rows on disk are divided as rows_of_rank divides all of them, and `index` must ascend; else the list of
/// the indices is.
RankRows sample_of_rank(const Dataset& rows, const at::Tensor& index, const Collective* ranks);

/// Returns the rows with these indices, which must ascend if they are on disk. Those are copied into memory,
/// on all ranks.
Dataset taken_rows(const Dataset& rows, const at::Tensor& index, const Collective* ranks);

/// Returns rows for an estimate to which all rows would add little: rows in memory themselves, and of rows on
/// disk up to 65,536, which are copied into memory on all ranks.
Dataset enough_rows(const Dataset& rows, const Stream& stream, const Collective* ranks);

}  // namespace slimbayes
