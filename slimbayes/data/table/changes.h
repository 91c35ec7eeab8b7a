#pragma once

#include <map>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Changes to the columns of a file so that they fit a model that was trained on another file.
struct ColumnChanges {
  /// Columns to rename: name in the file -> name in the model. All are renamed at once, so that two columns
  /// may swap their names.
  std::map<std::string, std::string> renamed;
  /// Columns to add where the file lacks them: name in the model -> the text of the cell in every row.
  std::map<std::string, std::string> filled;

  bool empty() const { return renamed.empty() && filled.empty(); }
};

/// Parses the values of the options --rename and --fill. Each value is a comma-separated list of pairs:
/// FILE=MODEL for --rename, NAME=CELL for --fill. The first '=' of a pair ends its left side. A name or a
/// cell may contain commas: text between commas without '=' belongs to the pair before it, or to the first
/// pair if it stands at the start of the list. Throws std::invalid_argument for a text without '=', an empty
/// name, and a column that is renamed twice, or that two changes would give.
ColumnChanges column_changes(const std::vector<std::string>& renames, const std::vector<std::string>& fills);

/// Throws std::invalid_argument if a new name in changes.renamed, or a column in changes.filled, is not among
/// `columns`, the names of the model's columns.
void check_columns_of_model(const ColumnChanges& changes, const std::vector<std::string>& columns);

/// Returns how to read a file to which `changes` will be applied. `reading` lists columns by the model's
/// names; the result lists each column to rename by its name in the file too. Read the file with it, then
/// call with_changes().
Reading before_changes(const Reading& reading, const ColumnChanges& changes);

/// Returns the table after the changes: each column in `renamed` that the table has is renamed, then each
/// column in `filled` that the table lacks is added. `reading` gives the kind of each added column. If the
/// cell of an added column means a missing cell (is_missing, Reading::missing), the whole column is missing.
/// Throws std::invalid_argument if another column already has a new name, and if the cell of an added column
/// cannot be read as the column's kind.
Table with_changes(Table table, const ColumnChanges& changes, const Reading& reading);

/// Returns the changes without each rename whose new name the table already has. Use it where the same
/// changes apply to two files and one of them may have the model's names: its columns then keep their names.
ColumnChanges where_absent(const Table& table, const ColumnChanges& changes);

/// Returns the changes that have no effect on this table: renames of a column that the table lacks, and fills
/// of a column that it has, perhaps after a rename.
ColumnChanges unneeded(const Table& table, const ColumnChanges& changes);

/// Returns the changes that are both in `a` and in `b`.
ColumnChanges common(const ColumnChanges& a, const ColumnChanges& b);

/// Throws std::invalid_argument unless `unneeded` is empty. It holds the changes that had no effect on any of
/// the files, which are probably a typing error of the user. `table` is the last file that was read, for the
/// message; `others` says whether there was another file.
void check_needed(const ColumnChanges& unneeded, const Table& table, bool others);

}  // namespace slimbayes
