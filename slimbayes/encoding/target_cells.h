#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

// Functions that read the cells of a target column. Those that take a row throw DataError with the number of
// that row.

/// Returns the column with the name `target`. Throws std::invalid_argument if the table has none.
const Column& target_column(const Table& table, const std::string& target);

/// Throws std::invalid_argument if no column is named (`target` is empty), if the table has no such column,
/// or if its cells cannot be a target: times, or names of which at least half occur once, as identifiers and
/// free texts do. The message lists the columns that can be one.
void check_target_column(const Table& table, const std::string& target);

/// Returns whether a column of categories looks like identifiers or free text: more than ten different names,
/// at least half of which occur once.
bool names_hardly_repeat(const Column& column);

/// Returns whether the column holds numbers or booleans.
bool of_numbers(const Column& column);

/// Returns the target in this row, as a number (Column::values). Throws DataError if it is missing or
/// infinite.
double target_in(const Table& table, const Column& column, int64_t row);

/// Returns the target in this row, which must be a count. Throws DataError for a cell that is not a whole
/// number from 0 to 1e15.
double count_in(const Table& table, const Column& column, int64_t row);

/// If a numeric column holds only two different whole numbers, each in at least two rows, returns these
/// numbers, the smaller first; else nullopt. Such a column is taken for two classes.
std::optional<std::pair<double, double>> two_whole_numbers(const Column& column);

}  // namespace slimbayes
