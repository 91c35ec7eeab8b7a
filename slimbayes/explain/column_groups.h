#pragma once

#include <string>
#include <vector>

#include "slimbayes/explain/explained_rows.h"

namespace slimbayes {

/// Columns whose association() is above this are joined by associated_groups().
inline constexpr double kAssociated = 0.8;

/// Input columns that are permuted together.
struct ColumnGroup {
  std::vector<std::string> columns;  // names of input columns, at least one

  std::string name() const;  // the names, joined by " + "
};

/// Returns a group for each input column of the model.
std::vector<ColumnGroup> single_columns(const ExplainedRows& rows);

/// Returns these groups, and a group of its own for each input column that is in none. Throws
/// std::invalid_argument for an empty group, a column that the model does not use and one that is named
/// twice.
std::vector<ColumnGroup> given_groups(const ExplainedRows& rows,
                                      const std::vector<std::vector<std::string>>& groups);

/// Returns the input columns in groups by single linkage: two columns whose association() is above
/// kAssociated are in one group.
std::vector<ColumnGroup> associated_groups(const ExplainedRows& rows);

/// Returns a sentence on the groups of several columns, or "" if there is none.
std::string groups_note(const std::vector<ColumnGroup>& groups);

/// Returns the groups that a text names: columns separated by ",", groups by ";". Throws
/// std::invalid_argument for a group or a name that is empty.
std::vector<std::vector<std::string>> groups_of_text(const std::string& text);

}  // namespace slimbayes
