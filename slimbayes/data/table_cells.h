#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/data/table.h"
#include "slimbayes/data/table_cell.h"

namespace slimbayes {

/// Reports a cell that makes its column unreadable; the reader adds file, line and column.
struct BadCell : std::runtime_error {
  BadCell(int64_t bad_row, const std::string& message) : std::runtime_error(message), row(bad_row) {}
  int64_t row;  // index from 0
};

/// Reads a column of text whose kind its cells decide. Throws BadCell for an infinite number, and for text in
/// a column where at least half of the present cells are numbers (or dates): this is a typing error far more
/// often than a category. With `codes`, numbers of digits alone with leading zeros (02139) are names, and so
/// categorical, if all have one length or most have such zeros.
Column column_from_cells(std::string name, std::span<const std::string_view> cells, bool codes = true);

/// Reads a column of a known kind. Throws BadCell for the first cell of another kind and for an infinite
/// number; any text is a category.
Column column_of_kind(std::string name, ColumnKind kind, std::span<const std::string_view> cells);

/// Returns whether the column is needed. A bad cell in a column that is not needed is not an error.
bool is_needed(const Reading& reading, const std::string& name);

/// Returns a categorical column whose categories are the texts of the cells.
Column as_categorical(const Column& column);

/// Names a column of row labels as pandas and R write them: in a table of two or more columns, a first column
/// without a name becomes "Unnamed: 0", or "Unnamed: 0.1" and so on if another column has that name.
void name_row_labels(std::vector<std::string>& names);

/// Throws DataError for no columns, an empty name or a duplicate name.
void check_names(std::span<const std::string> names, const std::string& source);

}  // namespace slimbayes
