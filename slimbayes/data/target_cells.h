#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

// The cells of a target column as they are read for training. The functions that take a row throw DataError
// with its place.

/// Returns the target column. Throws std::invalid_argument if the table has none of this name.
const Column& target_column(const Table& table, const std::string& target);

/// Returns whether the column holds numbers or booleans.
bool of_numbers(const Column& column);

/// Returns the cell of this row. Throws DataError if it is missing or infinite.
double target_in(const Table& table, const Column& column, int64_t row);

/// Returns the count in this row. Throws DataError for a cell that is no whole number from 0 to 1e15.
double count_in(const Table& table, const Column& column, int64_t row);

/// Returns the two values of a column that holds two different whole numbers alone, each at least twice.
std::optional<std::pair<double, double>> two_whole_numbers(const Column& column);

}  // namespace slimbayes
