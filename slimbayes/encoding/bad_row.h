#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// An example (a row of a table or a window of a time series) for which no prediction can be made, for
/// example because a number lies too far from the training rows.
struct BadRow {
  int64_t row = 0;     // its index from 0 among the examples that were passed in
  std::string reason;  // names the column, its value and the fault: a sentence without a full stop
};

/// Returns the indices of the rows that have an answer: all from 0 to rows - 1 that `bad` does not list,
/// ascending. `bad` must be in ascending order of its rows.
SLIMBAYES_EXPORT std::vector<int64_t> rows_without(const std::vector<BadRow>& bad, int64_t rows);

}  // namespace slimbayes
