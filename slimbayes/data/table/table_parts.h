#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Returns the files of read_tables(): these, and the tables in the folders among them.
std::vector<std::filesystem::path> files_of_table(const std::vector<std::filesystem::path>& given);

/// Returns a note if the files lie in folders whose names hold a value, such as region=1, as Spark writes
/// partitions: such values are in no file, and no column has them. Else "".
std::string partition_note(const std::vector<TablePart>& files);

/// The columns of a table whose rows come in several parts. A column has the kind of the first part that has
/// a value in it.
class KnownColumns {
 public:
  explicit KnownColumns(Reading reading) : reading_(std::move(reading)) {}

  /// Returns how to read the next part: columns that have had a value keep their kind.
  Reading next() const;

  /// Gives columns the kinds that other readers of the table know: by name, of columns that have had a value.
  void know(const std::map<std::string, ColumnKind, std::less<>>& kinds);

  /// Brings the columns of the next part into the order of the first one, and a column without a value, or
  /// one that is not needed, to the kind that is known. Throws DataError for other columns or kinds.
  void take(Table& part);

 private:
  struct Known {
    std::string name;
    ColumnKind kind;
    bool has_value;
  };
  void match_row_labels(Table& part) const;
  void check_names(const Table& part) const;
  void agree(Known& known, Column& column, const Table& part) const;

  Reading reading_;
  std::string first_;  // source of the first part
  std::vector<Known> columns_;
};

/// The rows of several parts with the same columns (KnownColumns::take), joined one after another.
class JoinedTable {
 public:
  explicit JoinedTable(std::string source) { whole_.source = std::move(source); }

  /// Appends rows. Their Table::numbers are kept; a part without is a file (Table::parts).
  void add(Table part);

  /// Removes the rows with these indices, ascending, and returns them.
  Table take(const std::vector<int64_t>& rows);

  const Table& all() const { return whole_; }
  int64_t rows() const { return whole_.rows; }
  uint64_t bytes() const;  // of the cells, and of the levels
  Table table() && { return std::move(whole_); }

 private:
  void append(Column& to, Column& from);
  void renumber(Column& to, Column& from);

  Table whole_;
  uint64_t text_ = 0;  // bytes of the levels that further parts have brought
  std::map<std::string, std::map<std::string, double>> levels_;  // by column: the number of each level
};

}  // namespace slimbayes
