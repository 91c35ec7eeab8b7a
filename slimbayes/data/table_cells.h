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

/// A cell that spoils its column; the reader adds file, line and column.
struct BadCell : std::runtime_error {
  BadCell(int64_t bad_row, const std::string& message) : std::runtime_error(message), row(bad_row) {}
  int64_t row;
};

/// Judges a column of text by its cells. Throws BadCell for an infinite number, and for text in a column
/// where at least half of the cells are numbers (or dates): that is a typing error far more often than a
/// category. Numbers with leading zeros and of one length (02139) are names, categorical, unless not `codes`.
Column column_from_cells(std::string name, std::span<const std::string_view> cells, bool codes = true);

/// A column of this kind. Throws BadCell for the first cell that is not of it; a category is any text.
Column column_of_kind(std::string name, ColumnKind kind, std::span<const std::string_view> cells);

/// Whether anybody needs the column: one that nobody does cannot fail.
bool is_needed(const Reading& reading, const std::string& name);

/// Each cell's text as its category.
Column as_categorical(const Column& column);

/// Row labels, as pandas and R write them: a first column without a name, among others, becomes "Unnamed: 0",
/// or "Unnamed: 0.1" and so on where that is another's.
void name_row_labels(std::vector<std::string>& names);

/// Throws DataError for no columns, an empty name or a name that comes twice.
void check_names(std::span<const std::string> names, const std::string& source);

}  // namespace slimbayes
