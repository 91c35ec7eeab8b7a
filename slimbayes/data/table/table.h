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
#include "slimbayes/export.h"

namespace arrow {
class ChunkedArray;
}

namespace slimbayes {

/// NaN, the value that stands for a missing cell in a column of any kind.
inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// What the cells of a column hold. The kind decides what the numbers in Column::values mean.
enum class ColumnKind { numeric, boolean, categorical, datetime };

/// Returns "numeric", "boolean", "categorical" or "datetime".
SLIMBAYES_EXPORT std::string_view kind_name(ColumnKind kind);

/// Returns the kind with this name. Throws std::invalid_argument for another word.
SLIMBAYES_EXPORT ColumnKind kind_named(std::string_view name);

/// Returns whether a column of this name holds labels of the rows instead of data, as the index that pandas
/// writes: "Unnamed: 0" in a text file (also the name that read_table gives to a first column without one)
/// and "__index_level_0__" in Parquet and Feather. Such a column is not used as an input.
SLIMBAYES_EXPORT bool is_row_label(std::string_view name);

/// One column of a Table: its name, its kind and one value per row.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<double> values;       // by kind: number; 0 or 1; index into levels; seconds since 1970 UTC
  std::vector<std::string> levels;  // categorical column: its categories in order of first appearance
  // How a text file spells some cells. Boolean column: the first spelling of false and the first of true,
  // such as {"no", "yes"}; empty unless both values occur. Numeric column: the first number with leading
  // zeros; empty if there is none.
  std::vector<std::string> words = {};
  // Numeric column: the first integer beyond 2^53, as written in the file; "" if there is none. Several such
  // integers share one double, so `values` holds them rounded.
  std::string large = "";
  int64_t large_row = 0;  // row of `large`, from 0
  // Numeric column of a text file: a number such as 4.757, if the points of the column probably separate
  // thousands (PerhapsGroups in spelling.h); else empty.
  std::string grouped = "";
  // The cells with the types and values of the file, so that write_table can write them without loss; nullptr
  // unless Reading::kept names the column.
  std::shared_ptr<const arrow::ChunkedArray> kept = nullptr;
  // Date-time column: whether a cell, or the column's type, gives an offset from UTC. If so, format_csv
  // writes the times in UTC with a Z.
  bool offsets = false;
  // Date-time column of a text file in which only some cells give an offset: the number of cells with an
  // offset, the number without (they are read as UTC), and the first row without, from 0. Otherwise all 0.
  int64_t with_offset = 0, without_offset = 0, first_without = 0;
};

/// A file whose rows are a part of a table (read_tables).
struct TablePart {
  std::string source;
  int64_t first = 0;  // index of its first row in the whole table
};

/// A table in memory, stored column by column. It uses no tensors, so that it can be read, tested and fuzzed
/// without libtorch.
struct SLIMBAYES_EXPORT Table {
  std::string source;  // path, for messages
  std::vector<Column> columns;
  int64_t rows = 0;
  /// The index of each row in the table that was read from the file, where take_rows took only some of its
  /// rows. Messages use it. Empty: row i has the index i.
  std::vector<int64_t> numbers = {};
  std::vector<TablePart> parts = {};  // of several files, in their order; empty: one file

  const Column* find(std::string_view name) const;  // nullptr if absent
  std::vector<std::string> names() const;           // of the columns
};

/// How the text of a file spells numbers and dates, where it is not as 13000.5 and 2014-12-31. Plain data:
/// FitOptions has the same fields, and check_columns() their limits.
struct Notation {
  std::string thousands = "";  // sign between groups of three digits: "", ",", ".", " " or "'"
  std::string decimal = ".";   // "." or ","
  /// Fields of strptime, such as "%d.%m.%Y": a cell of this format is a date too; "": ISO 8601 alone.
  std::string date_format = "";
  std::string separator = ",";  // sign between the columns of a .csv: ",", ";", "|" or "tab"

  /// Whether numbers are spelled as parse_number() reads them.
  bool plain_numbers() const { return thousands.empty() && decimal == "."; }
};

/// What is known about a file's columns before it is read. Use it to read the rows of a prediction as the
/// training rows were read. Without it, the kind of a column in a text file is decided by its cells, and a
/// few rows can mislead: product codes look like numbers until one of them holds a letter.
struct Reading {
  std::map<std::string, ColumnKind, std::less<>> kinds = {};  // column's name -> its kind in a text file
  std::vector<std::string> names = {};    // columns to read as categorical, whatever their cells
  std::vector<std::string> unused = {};   // columns that are not needed: a bad cell in one is not an error
  bool others_used = true;                // whether columns outside `kinds`, `names` and `unused` are needed
  std::vector<std::string> numbers = {};  // columns in which 007 is the number 7, not a code
  /// Columns of class labels. One with integers beyond 2^53 becomes categorical, since a double would merge
  /// different labels.
  std::vector<std::string> labels = {};
  /// Columns among `kinds` whose numbers were 0 and 1: one that now holds yes and no becomes boolean.
  std::vector<std::string> bits = {};
  std::vector<std::string> kept = {};  // columns whose cells Column::kept must hold
  /// Further texts that mean a missing cell in every column, such as "-" or "-999", in addition to those
  /// listed at read_table. A cell is missing if it is such a text, apart from blanks around it, or the same
  /// number in another spelling (-999.0).
  std::vector<std::string> missing = {};
  Notation notation = {};  // how the cells of a text file spell numbers and dates
};

/// Reads a file that ends in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather, .arrow or .ipc through Apache
/// Arrow, or all such files of a folder as one table (read_tables). All numbers of the
/// returned table are finite.
/// - Text files: a cell is missing if it is empty, NA, N/A, n/a, #N/A, <NA>, NaN, nan, NaT, null, NULL, None,
///   \N, '?' or one of Reading::missing; blanks around a cell are dropped. A first column without a name
///   holds row labels. A column is numeric if all cells that are not missing are numbers (a column of codes
///   with leading zeros, such as 02139, is categorical: see column_from_cells) by Reading::notation, boolean
///   for yes/no and true/false, datetime for ISO 8601, else categorical. If `reading` gives the column's
///   kind, that kind is used; a boolean may then also be 1 or 0.
/// - Parquet and Feather: the type of a column decides its kind. Columns in reading.names become categorical,
///   and so do integers beyond 2^53 in columns that `reading` knows as categories or labels. Nulls, NaN and
///   the texts of Reading::missing are missing cells.
/// Throws DataError with file, line and column (the cell's place in its row, from 1) for a missing, empty,
/// header-only or ragged file, duplicate or empty column names, infinite numbers, text cells in a column of
/// numbers or dates, and a Parquet or Feather type that has no kind here. For a text file, one error names
/// the wrong cells of all columns and gives the place of the first. In a column that is not needed
/// (is_needed), wrong cells are not an error: in a text file the column becomes categorical, in the other
/// formats such cells become missing. Throws DataError for a cell longer than limits.cell. If reading takes
/// more memory than `limits` allows, throws DataError where limits.memory is set, else OutOfMemory.
SLIMBAYES_EXPORT Table read_table(const std::filesystem::path& path, const Reading& reading = {},
                                  const TableLimits& limits = {});

/// Reads several files as one table, the rows in the order of the files. A folder stands for the tables in it
/// and in its folders, sorted by their paths; what begins with a dot or an underscore, such as the _SUCCESS
/// of Spark, is left out. The first file that has a value in a column decides the column's kind, and text
/// files are read by these kinds. The order of the columns is that of the first file. `source` is the name of
/// the whole in messages; places in them name the file (row_place). Throws DataError, naming the file, for
/// other columns or kinds than in the files before it, for a folder without tables, and as read_table; the
/// limits are those of the whole table.
SLIMBAYES_EXPORT Table read_tables(const std::vector<std::filesystem::path>& files, std::string source,
                                   const Reading& reading = {}, const TableLimits& limits = {});

/// Returns a table of the rows with these indices, in this order, with their Column::kept. A categorical
/// column keeps all its levels, even those that no longer occur. Throws std::invalid_argument for an index
/// outside the table.
SLIMBAYES_EXPORT Table take_rows(const Table& table, const std::vector<int64_t>& rows);

/// Writes a table in the format of the path's ending: .csv, .tsv, .parquet or .feather. The write is atomic
/// (write_atomically). Numbers are written so that reading gives the same double; times are exact to the
/// nanosecond (Parquet, Feather: microsecond). A column with Column::kept is written from these cells: with
/// their types in Parquet and Feather, as their text in a text file. If the kept cells came from a text file,
/// Parquet and Feather get a column of text, or of doubles if it is numeric without integers beyond 2^53.
/// Throws DataError for another ending and if the file cannot be written.
SLIMBAYES_EXPORT void write_table(const std::filesystem::path& path, const Table& table);

/// Returns the number of a row (index in `table`) in the file, counted from 1 without the header; of several
/// files in the whole of them. Messages do not use line numbers: a table does not store them, and blank lines
/// or quoted line ends would shift them.
SLIMBAYES_EXPORT int64_t row_number(const Table& table, int64_t row);

/// Returns the place of a row for messages: "data row 7", or "data row 7 of b.csv" in a table of several
/// files.
SLIMBAYES_EXPORT std::string row_place(const Table& table, int64_t row);

/// Throws DataError with this message, preceded by the table's file and the place of the row (row_place).
[[noreturn]] SLIMBAYES_EXPORT void throw_bad_cell(const Table& table, int64_t row,
                                                  const std::string& message);

}  // namespace slimbayes
