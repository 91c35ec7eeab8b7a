#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

// Columns that number the rows of a table, which say nothing of rows that come later.

/// Returns whether a column looks like row numbers: at least ten whole numbers that either increase (or
/// decrease) strictly from row to row, or are all different and almost without gaps. O(n).
bool counts_rows(const Column& column);

/// Returns whether a column numbers the rows: it looks like row numbers, and its name says that they
/// are labels: a word id, ids, uid, rowid or idx, the name index alone, or no, nr, num or number after the
/// name of what gets one, such as order, record or row ("order_no", "RecordNumber"). Other counters, such as
/// week_no, may be trends. O(n).
bool numbers_rows(const Column& column);

/// Returns the names of the columns that number the rows (numbers_rows) and are therefore no inputs. Columns
/// in `not_inputs` are left out. Empty if no column that varies would remain as an input. O(cells).
std::vector<std::string> numbering_columns(const Table& table, const std::vector<std::string>& not_inputs);

}  // namespace slimbayes
