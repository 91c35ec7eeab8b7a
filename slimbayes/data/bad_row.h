#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/table.h"

namespace slimbayes {

/// A row that has no answer.
struct BadRow {
  int64_t row = 0;     // in the table at hand, from 0
  std::string reason;  // a sentence without its end: the column, its value, the cause
};

/// The rows of a table of `rows` that are not bad; `bad` is ascending.
std::vector<int64_t> rows_without(const std::vector<BadRow>& bad, int64_t rows);

}  // namespace slimbayes
