#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// An example (a row or a window) that cannot be answered, for example because a number lies too far from the
/// training rows.
struct BadRow {
  int64_t row = 0;     // its index from 0 among the examples that were passed in
  std::string reason;  // the column, its value and the cause: a sentence without a full stop
};

/// Returns, in ascending order, the indices from 0 to rows - 1 that are not in `bad`, which must be
/// ascending.
std::vector<int64_t> rows_without(const std::vector<BadRow>& bad, int64_t rows);

}  // namespace slimbayes
