#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/split_options.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// The groups of rows that a split keeps together.
struct RowGroups {
  std::vector<int64_t> of;  // [n] each row's group: 0, 1, ... by first appearance
  int64_t count = 0;
  bool singly = false;  // "auto" found so few different inputs that every row is its own group
  /// Number of inputs too frequent to be held out together; "auto" makes each of their rows its own group.
  int64_t large = 0;
  int64_t large_rows = 0;  // number of rows with such inputs
};

/// Groups the rows with identical inputs. Two missing cells need not have the same value. So rows that lack
/// an input are grouped only if all cells of the table are equal, those of columns that are no inputs too, as
/// in a row that was copied. If they were grouped by their other inputs, few large groups would form where
/// the missing input is the one that differs from row to row, and the part that gets such a group would have
/// far more missing cells than the others. Only the kind "grouped" groups them. Throws std::invalid_argument
/// if a column that is no input does not exist, or if all columns are no inputs.
RowGroups alike_rows(const Table& table, const SplitOptions& options);

/// Returns the groups that `alike` gives by their numbers: 0, 1, ... without a gap.
RowGroups groups_of(const std::vector<int64_t>& alike);

/// Returns the groups that split_rows deals, given the groups of identical inputs.
RowGroups dealt_groups(const RowGroups& alike, const SplitOptions& options);

/// Returns the number of rows in each group.
std::vector<int64_t> sizes_of(const RowGroups& groups);

/// Returns the groups that split_rows deals: rows with identical inputs, or each row as its own group with
/// "random" and where "auto" deals rows separately. Throws std::invalid_argument as split_rows does.
RowGroups row_groups(const Table& table, const SplitOptions& options);

/// Returns the groups that split_rows deals when identical examples are already known: alike[i] is the number
/// of the group of example i, numbered 0, 1, ... by first appearance.
RowGroups row_groups(const std::vector<int64_t>& alike, const SplitOptions& options);

/// Returns the group of each of these rows [rows.size()], renumbered by first appearance among them.
std::vector<int64_t> groups_among(const RowGroups& groups, const std::vector<int64_t>& rows);

}  // namespace slimbayes
