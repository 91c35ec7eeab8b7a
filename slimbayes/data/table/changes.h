#pragma once

#include <map>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// How the columns of a foreign table are changed so that they fit a model.
struct ColumnChanges {
  /// Name in the file -> name in the model. All at once: two columns may swap their names.
  std::map<std::string, std::string> renamed;
  /// Name in the model -> the cell that a column of this name gets in every row, as a text file has it.
  std::map<std::string, std::string> filled;

  bool empty() const { return renamed.empty() && filled.empty(); }
};

/// Parses the values of --rename and --fill, each a comma-separated list of pairs NAME=NAME or NAME=CELL. The
/// first '=' of a pair ends the name. A name or a cell may contain commas: a part without '=' belongs to the
/// pair before it, or to the first pair if it stands at the start of the list. Throws std::invalid_argument
/// for a part that is no pair, an empty name, and a column that is renamed or given twice.
ColumnChanges column_changes(const std::vector<std::string>& renames, const std::vector<std::string>& fills);

/// Throws std::invalid_argument if a change gives a column that is not among those of the model.
void check_columns_of_model(const ColumnChanges& changes, const std::vector<std::string>& columns);

/// Returns how to read a file whose columns will be changed, given how its changed columns are to be read.
Reading before_changes(const Reading& reading, const ColumnChanges& changes);

/// Returns the table with the changes that it needs: a column is renamed if the table has it, and a constant
/// column is added if the table, after renaming, lacks it. `reading` says which kind each constant column
/// must have. If the constant cell is a mark of a missing value (read_table), all cells of the column are
/// missing. Throws std::invalid_argument if another column has the new name already, and if a constant cell
/// cannot be read as its column's kind.
Table with_changes(Table table, const ColumnChanges& changes, const Reading& reading);

/// Returns the changes without the renames to a name that the table already has. Use it if two files share
/// the changes: a file that has the model's columns is then not changed.
ColumnChanges where_absent(const Table& table, const ColumnChanges& changes);

/// Returns the changes that this table does not need: it lacks the column to rename, or has the column to
/// fill.
ColumnChanges unneeded(const Table& table, const ColumnChanges& changes);

/// Returns the changes that are in both.
ColumnChanges common(const ColumnChanges& a, const ColumnChanges& b);

/// Throws std::invalid_argument unless `unneeded`, the changes that no table needed, is empty. `table` is the
/// last table that was read; `others` says whether there was another one.
void check_needed(const ColumnChanges& unneeded, const Table& table, bool others);

}  // namespace slimbayes
