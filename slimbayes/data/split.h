#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// The parts of a split: row indices, each list in ascending order.
struct SplitRows {
  std::vector<int64_t> train, valid, test;
  /// Used by no fit and no choice; intervals are calibrated on these rows.
  std::vector<int64_t> calibration = {};
  std::vector<std::string> notes = {};  // sentences about how identical inputs affected the split
};

struct SplitOptions {
  // FitOptions has the defaults.
  double valid_fraction;  // share of all rows, rounded up
  double test_fraction;   // share of all rows, rounded up
  /// How rows with identical inputs are dealt:
  /// - "grouped": they stay in one part. An input that occurs too often to be held out stays in training, and
  ///   the fractions refer to the other rows.
  /// - "random": each row is dealt separately.
  /// - "auto": grouped, but the rows of an input that occurs too often are dealt separately. All rows are
  ///   dealt separately if an input occurs more than ten times on average: new inputs are then not to be
  ///   expected, and a grouped part would miss whole categories. Rows that lack an input are grouped only if
  ///   they are equal in every column: a missing cell is not known to equal another.
  std::string kind;
  std::vector<std::string> not_inputs = {};  // the target and ignored columns
  double calibration_fraction = 0;  // share of all rows, rounded up; taken from the rows that would train
  std::string_view noun = "row";    // the word for one example in notes
};

/// The groups of rows that a split keeps together.
struct RowGroups {
  std::vector<int64_t> of;  // [n] each row's group: 0, 1, ... by first appearance
  int64_t count = 0;
  bool singly = false;  // "auto" found so few different inputs that every row is its own group
  /// Number of inputs too frequent to be held out together; "auto" makes each of their rows its own group.
  int64_t large = 0;
  int64_t large_rows = 0;  // number of rows with such inputs
};

/// Returns the groups that split_rows deals: rows with identical inputs, or each row as its own group with
/// "random" and where "auto" deals rows separately. Throws std::invalid_argument as split_rows does.
RowGroups row_groups(const Table& table, const SplitOptions& options);

/// Returns the groups that split_rows deals when identical examples are already known: alike[i] is the number
/// of the group of example i, numbered 0, 1, ... by first appearance.
RowGroups row_groups(const std::vector<int64_t>& alike, const SplitOptions& options);

/// Returns the group of each of these rows [rows.size()], renumbered by first appearance among them.
std::vector<int64_t> groups_among(const RowGroups& groups, const std::vector<int64_t>& rows);

/// Splits the rows at random; the same stream gives the same split. The test and validation rows are the same
/// with and without a calibration part. With its last group, a part may exceed its size, by at most a sixth
/// of the training rows' share and at most twice the size of the smallest part. Throws std::invalid_argument
/// for no rows, fractions outside [0, 1), a sum of 1 or more, an unknown kind, if no training row would be
/// left, or if "grouped" has no group that can be held out.
SplitRows split_rows(const Table& table, const SplitOptions& options, const Stream& stream);

/// Splits examples at random when identical ones are already known; `alike` is as in row_groups.
SplitRows split_rows(const std::vector<int64_t>& alike, const SplitOptions& options, const Stream& stream);

}  // namespace slimbayes
