#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/split/split_options.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The groups of rows that a split keeps together in one part.
struct RowGroups {
  std::vector<int64_t> of;  // [n] each row's group: 0, 1, ... by first appearance
  int64_t count = 0;
  bool singly = false;  // kind "auto": every row is its own group, because inputs repeat too much
  /// Number of different inputs that occur in too many rows to be held out together. With the kind "auto",
  /// each row with such an input is its own group.
  int64_t large = 0;
  int64_t large_rows = 0;  // number of rows with such inputs
};

/// Returns the groups of rows with identical inputs. Rows in which an input is missing are a special case,
/// because two missing cells need not stand for the same value. With the kind "grouped" they are compared by
/// their inputs, as other rows are. With other kinds they form a group only if all cells of the table are
/// equal, also those that are not inputs, as in a row that was copied. Otherwise a few large groups would
/// form where the missing input is the one that differs from row to row, and the part of the split that gets
/// such a group would have far more missing cells than the other parts.
/// Throws std::invalid_argument if a column in options.not_inputs does not exist or no input column is left.
SLIMBAYES_EXPORT RowGroups alike_rows(const Table& table, const SplitOptions& options);

/// Returns the names of the columns whose cells tell whether two rows have the same input: those that are
/// inputs, without row labels, numbers of the rows, identifiers and free text; if no other column is left,
/// all inputs. Throws std::invalid_argument for a name in SplitOptions::not_inputs that is no column.
SLIMBAYES_EXPORT std::vector<std::string> input_names(const Table& table, const SplitOptions& options);

/// Returns RowGroups for known group numbers: alike[i] is the number of row i's group. The numbers are 0, 1,
/// ... without a gap.
SLIMBAYES_EXPORT RowGroups groups_of(const std::vector<int64_t>& alike);

/// Returns the groups that split_rows deals as a whole, from the groups of rows with identical inputs
/// (alike_rows). With the kind "grouped" these are the same groups, with "random" each row is its own group.
/// With "auto", each row with a frequent input is its own group, or every row if inputs repeat too much (see
/// SplitOptions::kind).
SLIMBAYES_EXPORT RowGroups dealt_groups(const RowGroups& alike, const SplitOptions& options);

/// Returns the number of rows in each group, [count].
SLIMBAYES_EXPORT std::vector<int64_t> sizes_of(const RowGroups& groups);

/// Returns the groups of a table's rows that split_rows deals as a whole: alike_rows followed by
/// dealt_groups. Throws std::invalid_argument as split_rows does.
SLIMBAYES_EXPORT RowGroups row_groups(const Table& table, const SplitOptions& options);

/// Returns the groups of examples that split_rows deals as a whole, for examples that are already compared:
/// alike[i] is the number of the group of examples that are identical to example i. The groups are numbered
/// 0, 1, ... by first appearance.
SLIMBAYES_EXPORT RowGroups row_groups(const std::vector<int64_t>& alike, const SplitOptions& options);

/// Returns the group number of each of these rows, [rows.size()]. The numbers are new: 0, 1, ... by first
/// appearance among these rows.
SLIMBAYES_EXPORT std::vector<int64_t> groups_among(const RowGroups& groups, const std::vector<int64_t>& rows);

}  // namespace slimbayes
