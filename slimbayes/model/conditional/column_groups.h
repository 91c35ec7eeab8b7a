#pragma once

#include <string>

#include "slimbayes/answers/conditional/group_scores.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Returns the rows of a column as groups. Categories and truth values: one group for each value, in the
/// alphabetical order of its text. Numbers and times: one for each value, ascending, if there are at most 20
/// different ones, else five bins with about equal numbers of rows (quantile_bins), named by their ends,
/// "[a, b)"; the last bin, "[a, b]", holds its upper end. Ends have six digits, or all where six would not
/// tell them apart. The last group, "(missing)", has the rows without a cell.
RowGrouping groups_of_column(const Column& column);

/// Returns the rows of the table that the examples stand for: a row of a table itself, of a window the row
/// that it predicts. Throws std::invalid_argument for images, and for a window whose row lies beyond the
/// table.
Table scored_rows(const Examples& examples);

}  // namespace slimbayes
