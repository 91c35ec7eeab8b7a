#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/data/table/wrong_cells.h"

namespace slimbayes {

/// The values of a column whose cells are plain numbers, read a piece of the file at a time. It holds only
/// doubles, so that the text of the column, which is most of a file, need not stay in memory.
class PlainNumbers {
 public:
  /// `rows`: how many cells to make room for.
  explicit PlainNumbers(size_t rows) { values_.reserve(rows); }

  /// Appends these cells. Returns false if one of them is neither missing nor a plain number (finite, without
  /// leading zeros, no integer beyond 2^53). The column must then be read by column_from_cells() or
  /// column_of_kind(), which need all of its text.
  bool append(std::span<const std::string_view> cells);

  /// The column that column_from_cells() would make of the same cells.
  Column column(std::string name) &&;

 private:
  std::vector<double> values_;
};

/// Reads a column of text whose kind its cells decide. Throws BadCell for infinite numbers, and for text in
/// a column where at least half of the present cells are numbers (or dates): this is a typing error far more
/// often than a category. With `codes`, numbers of digits alone with leading zeros (02139) are names, and so
/// categorical, if all have one length or most have such zeros.
Column column_from_cells(std::string name, std::span<const std::string_view> cells, bool codes = true);

/// Reads a column of a known kind. Throws BadCell for cells of another kind and for infinite numbers; any
/// text is a category.
Column column_of_kind(std::string name, ColumnKind kind, std::span<const std::string_view> cells);

/// Returns whether the column is needed. A bad cell in a column that is not needed is not an error.
bool is_needed(const Reading& reading, const std::string& name);

/// Returns a categorical column whose categories are the texts of the cells.
Column as_categorical(const Column& column);

/// Returns a column of a typed file with those cells missing that hold one of these marks of a missing cell:
/// a category that is_mark(), which is no longer a level, or the number that the text stands for.
Column without_marks(Column column, std::span<const std::string> marks);

}  // namespace slimbayes
