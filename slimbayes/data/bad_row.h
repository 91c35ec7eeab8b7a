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

/// "9 of 60 rows without an answer, DONE: data row 4: ...; data row 11: ...; and 7 more", where `done` says what became of
/// them; rows are numbered as throw_bad_cell does.
std::string bad_rows_text(const Table& table, const std::vector<BadRow>& bad, const std::string& done);

/// The rows of a table of `rows` that are not bad; `bad` is ascending.
std::vector<int64_t> rows_without(const std::vector<BadRow>& bad, int64_t rows);

}  // namespace slimbayes
