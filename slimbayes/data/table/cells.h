#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/data/table/wrong_cells.h"

namespace slimbayes {

/// Collects the values of a column of plain numbers (see append) while its file is read piece by piece. It
/// holds only doubles, so that the text of the column, which takes more memory, need not stay in memory.
class PlainNumbers {
 public:
  /// `rows`: the number of cells to expect; memory for so many is reserved.
  explicit PlainNumbers(size_t rows) { values_.reserve(rows); }

  /// Appends the values of these cells. Returns false if a cell is neither missing nor a plain number:
  /// finite, without leading zeros, and no integer beyond 2^53. The caller must then discard this object and
  /// read the column by column_from_cells() or column_of_kind(), which need the text of all its cells.
  bool append(std::span<const std::string_view> cells, const Notation& notation = {});

  /// Returns the numeric column of all appended cells, as column_from_cells() would return it.
  Column column(std::string name) &&;

 private:
  std::vector<double> values_;
  PerhapsGroups groups_;
};

/// Returns the column of these texts. The cells decide its kind. Throws BadCell for infinite numbers, and for
/// text in a column where at least half of the cells that are not missing are numbers (or dates), since such
/// text is a typing error far more often than a category. With `codes`, a column of digits alone, some with
/// leading zeros (02139), is categorical if all cells have one length or most have leading zeros. `notation`:
/// how the cells spell numbers and dates (Reading::notation). With a date format that looks like a number
/// (size_of_dates), a column whose cells all have it is one of dates.
Column column_from_cells(std::string name, std::span<const std::string_view> cells, bool codes = true,
                         const Notation& notation = {});

/// Returns the column of these texts, read as the given kind. Throws BadCell for texts that cannot be read so
/// and for infinite numbers. For ColumnKind::categorical every text can be read: each different one is a
/// level.
Column column_of_kind(std::string name, ColumnKind kind, std::span<const std::string_view> cells,
                      const Notation& notation = {});

/// Returns whether the column with this name is needed: `reading` lists it in `names` or `kinds`, or
/// others_used is set and the column is neither in `unused` nor a column of row labels. A bad cell in a
/// column that is not needed is not an error.
bool is_needed(const Reading& reading, const std::string& name);

/// Throws DataError if a cell of a typed column is infinite. If the column is not `needed` (is_needed), such
/// a cell becomes missing instead. `source`: where the column comes from, and `rows_before`: how many rows of
/// it precede those of the column, for messages.
void check_finite(Column& column, bool needed, const std::string& source, int64_t rows_before = 0);

/// Returns the column as a categorical one: its levels are the different texts of its cells (cell_text).
Column as_categorical(const Column& column);

/// Returns the column with every cell made missing that holds one of `marks`, the texts that mean a missing
/// cell (Reading::missing). In a categorical column this is a level for which is_mark() is true; the level is
/// removed. In a numeric column it is the number that the mark spells. Use it for Parquet and Feather.
Column without_marks(Column column, std::span<const std::string> marks);

}  // namespace slimbayes
