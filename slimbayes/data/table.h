#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/data/table_limits.h"

namespace arrow {
class ChunkedArray;
}

namespace slimbayes {

enum class ColumnKind { numeric, boolean, categorical, datetime };

/// "numeric", "boolean", "categorical" or "datetime".
std::string_view kind_name(ColumnKind kind);

/// The kind of this name. Throws std::invalid_argument for another word.
ColumnKind kind_named(std::string_view name);

/// Whether a column of this name numbers or names the rows, as the index that pandas writes: "Unnamed: 0" (a
/// first column without a name, or one that pandas read so) and "__index_level_0__" (Parquet, Feather). It is
/// no input.
bool is_row_label(std::string_view name);

/// One column. NaN stands for a missing cell in every kind.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<double> values;           // numbers; 0/1; index into levels; seconds since 1970-01-01 UTC
  std::vector<std::string> levels;      // of a categorical column, in order of first appearance
  // Read from text: of a boolean column, as spelt first: for 0 and for 1; of numbers, the first with leading
  // zeros.
  std::vector<std::string> words = {};
  // Of numbers: the first integer beyond 2^53, as the file has it, and its place in the file; "": none. Its
  // neighbours are read as the same double.
  std::string large = "";
  int64_t large_row = 0;
  // Where Reading::kept asks for them: the cells as the file has them, for write_table; else null.
  std::shared_ptr<const arrow::ChunkedArray> kept = nullptr;
};

/// A table in memory, column by column. Free of tensors, so that it is read, tested and fuzzed without
/// libtorch.
struct Table {
  std::string source;  // path, for messages
  std::vector<Column> columns;
  int64_t rows = 0;
  std::vector<int64_t> numbers =
      {};  // of rows taken from a larger table, their places in it; empty: 0, 1, ...

  const Column* find(std::string_view name) const;  // nullptr if absent
  std::vector<std::string> names() const;           // of the columns
};

/// What is known of a file's columns before it is read. By itself a column of text is judged by its cells,
/// and the few rows of another file need not show what it is: codes are numbers until one of them holds a
/// letter.
struct Reading {
  std::map<std::string, ColumnKind, std::less<>> kinds = {};  // of columns that are text in the file
  std::vector<std::string> names = {};   // columns of names, whatever their type: categorical
  std::vector<std::string> unused = {};  // columns that nobody needs
  bool others_used = true;               // whether anybody needs those in no list
  std::vector<std::string> numbers = {};  // columns whose leading zeros do not make them names
  std::vector<std::string> labels = {};   // columns of class labels: names where a double cannot hold them
  std::vector<std::string> kept = {};     // columns that are written again (Column::kept)
};

/// Reads .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather (also .arrow, .ipc) through Apache Arrow. Numbers
/// are finite. Missing in text: an empty cell, NA, N/A, n/a, #N/A, <NA>, NaN, nan, NaT, null, NULL, None, \N
/// and '?'; blanks around a cell are dropped. A first column without a name is one of row labels. A text
/// column is numeric when every cell that is not missing is a number (but codes with leading zeros are names:
/// column_from_cells), boolean for yes/no and true/false, datetime for ISO 8601, else categorical; one whose
/// kind `reading` knows is of that kind (of a boolean, 1 and 0 too). Parquet and Feather columns keep their
/// own type (but for those of `names`, and integers beyond 2^53 that are known as categories or labels); only
/// nulls and NaN are missing. Throws DataError with file, line and column (the cell's place in its row, from
/// 1) for a missing, empty, header-only or ragged file, duplicate or empty column names, an infinite number,
/// a text cell in a column of numbers or dates, and a type that is none of these; an unused column of text
/// with such a cell is categorical, one of another type without a value. Throws DataError for a cell beyond
/// `limits`, and as TableBound::check for a table beyond them.
Table read_table(const std::filesystem::path& path, const Reading& reading = {},
                 const TableLimits& limits = {});

/// The rows with these indices, in this order, kept cells too; a categorical column keeps all its levels.
/// Throws std::invalid_argument for an index outside the table.
Table take_rows(const Table& table, const std::vector<int64_t>& rows);

/// Writes by the path's ending: .csv, .tsv, .parquet, .feather. Atomic. Numbers are written so that reading
/// gives the same double, times to the nanosecond (Parquet, Feather: microsecond); kept cells as the file has
/// them, in a file of types with their type: of a text file text, but doubles where they were read as numbers
/// none of which is rounded. Throws DataError.
void write_table(const std::filesystem::path& path, const Table& table);

/// The N of a message's `data row N`, counted from 1 without the header: a text table's lines are gone, and
/// blank lines or quoted line ends would shift them.
int64_t row_number(const Table& table, int64_t row);

/// Throws DataError about a cell of this row, as `data row N`.
[[noreturn]] void throw_bad_cell(const Table& table, int64_t row, const std::string& message);

}  // namespace slimbayes
