#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/data/table/limits.h"

namespace arrow {
class ChunkedArray;
}

namespace slimbayes {

/// The value of a missing cell, in a column of any kind.
inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// What the cells of a column are.
enum class ColumnKind { numeric, boolean, categorical, datetime };

/// Returns "numeric", "boolean", "categorical" or "datetime".
std::string_view kind_name(ColumnKind kind);

/// Returns the kind with this name. Throws std::invalid_argument for another word.
ColumnKind kind_named(std::string_view name);

/// Returns whether a column of this name numbers or names the rows, as the index that pandas writes:
/// "Unnamed: 0" (a first column without a name, or one that pandas read so) and "__index_level_0__" (Parquet,
/// Feather). Such a column is not an input.
bool is_row_label(std::string_view name);

/// One column.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<double> values;       // numbers; 0/1; index into levels; seconds since 1970-01-01 UTC
  std::vector<std::string> levels;  // of a categorical column, in order of first appearance
  // Spellings in a text file. Boolean column: the first spelling of 0 and the first spelling of 1; empty
  // unless both occur. Numeric column: the first number with leading zeros; empty if there is none.
  std::vector<std::string> words = {};
  // Numeric column: the first integer beyond 2^53, as written in the file; "" if there is none. A double
  // cannot tell such an integer from its neighbours.
  std::string large = "";
  int64_t large_row = 0;  // index from 0 of the row with `large`
  // The cells as the file stores them, for write_table; nullptr unless Reading::kept names the column.
  std::shared_ptr<const arrow::ChunkedArray> kept = nullptr;
  // Date-time column: whether the file gives offsets from UTC. format_csv then marks the times as UTC.
  bool offsets = false;
  // Date-time column in which only some cells give an offset: the number of cells with an offset, the number
  // without (which are read as UTC), and the index from 0 of the first row without.
  int64_t with_offset = 0, without_offset = 0, first_without = 0;
};

/// A table in memory, column by column. It has no tensors, so that it can be read, tested and fuzzed without
/// libtorch.
struct Table {
  std::string source;  // path, for messages
  std::vector<Column> columns;
  int64_t rows = 0;
  /// For rows taken from a larger table: their indices in it. Empty: the rows are 0, 1, ...
  std::vector<int64_t> numbers = {};

  const Column* find(std::string_view name) const;  // nullptr if absent
  std::vector<std::string> names() const;           // of the columns
};

/// What is known about a file's columns before it is read. Use it to read prediction rows as the training
/// rows were read. Without it, the kind of a text column is judged by its cells, and a few rows can mislead:
/// codes look like numbers until one of them holds a letter.
struct Reading {
  std::map<std::string, ColumnKind, std::less<>> kinds = {};  // kinds of columns that are text in the file
  std::vector<std::string> names = {};    // columns of names, whatever their type: read as categorical
  std::vector<std::string> unused = {};   // columns that are not needed: a bad cell in one is not an error
  bool others_used = true;                // whether columns outside `kinds`, `names` and `unused` are needed
  std::vector<std::string> numbers = {};  // columns whose leading zeros do not make them names
  /// Columns of class labels: read as names where a double cannot hold them.
  std::vector<std::string> labels = {};
  std::vector<std::string> kept = {};  // columns that will be written again (Column::kept)
  /// Texts of a missing cell, in every column, in addition to those that read_table knows: "-", "-999". A
  /// cell is missing if it is this text, apart from blanks around it, or the same number in another spelling.
  std::vector<std::string> missing = {};
};

/// Reads .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather (also .arrow, .ipc) through Apache Arrow. All
/// numbers are finite.
/// - Text files: a cell is missing if it is empty, NA, N/A, n/a, #N/A, <NA>, NaN, nan, NaT, null, NULL, None,
///   \N, '?' or one of Reading::missing; blanks around a cell are dropped. A first column without a name
///   holds row labels. A column is numeric if every present cell is a number (codes with leading zeros are
///   names: column_from_cells), boolean for yes/no and true/false, datetime for ISO 8601, else categorical.
///   If `reading` gives the column's kind, that kind is used; a boolean may then also be 1 or 0.
/// - Parquet and Feather columns keep their own type, except columns in `names` and integers beyond 2^53 that
///   are known to be categories or labels: these become categorical. Nulls, NaN and the texts of
///   Reading::missing are missing cells.
/// Throws DataError with file, line and column (the cell's place in its row, from 1) for a missing, empty,
/// header-only or ragged file, duplicate or empty column names, infinite numbers, text cells in a column of
/// numbers or dates, and a type that is none of these. For a text file, one error names the wrong cells of
/// all columns and gives the place of the first. In a column that is not needed, such cells are not an error:
/// a text column becomes categorical, and typed cells become missing. Throws DataError for a cell beyond
/// `limits`, and as TableBound::check for a table beyond them.
Table read_table(const std::filesystem::path& path, const Reading& reading = {},
                 const TableLimits& limits = {});

/// Returns the rows with these indices, in this order, with their kept cells; a categorical column keeps all
/// its levels. Throws std::invalid_argument for an index outside the table.
Table take_rows(const Table& table, const std::vector<int64_t>& rows);

/// Writes a table in the format of the path's ending: .csv, .tsv, .parquet, .feather. The write is atomic.
/// Numbers are written so that reading gives the same double, times to the nanosecond (Parquet, Feather:
/// microsecond). Kept cells are written as in their file. In Parquet and Feather they keep their type; cells
/// from a text file are text there, except that a numeric column without rounded integers is written as
/// doubles. Throws DataError.
void write_table(const std::filesystem::path& path, const Table& table);

/// Returns the N of `data row N` in a message, counted from 1 without the header. Messages do not use line
/// numbers: a table does not store them, and blank lines or quoted line ends would shift them.
int64_t row_number(const Table& table, int64_t row);

/// Throws DataError with this message about a cell of this row, named as `data row N`.
[[noreturn]] void throw_bad_cell(const Table& table, int64_t row, const std::string& message);

}  // namespace slimbayes
