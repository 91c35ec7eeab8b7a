#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

/// Row indices, each list in ascending order.
struct SplitRows {
  std::vector<int64_t> train, valid, test;
  std::vector<int64_t> calibration = {};  // seen by no fit and no choice: what an interval is calibrated on
  std::vector<std::string> notes = {};    // sentences on what identical inputs did to the split
};

struct SplitOptions {
  double valid_fraction = 0.1;  // of all rows, ceil
  double test_fraction = 0;     // of all rows, ceil
  /// "grouped": rows with identical inputs stay on one side; an input that comes too often to be held out
  /// stays in training, and the fractions are those of the other rows. "random": row by row. "auto": grouped,
  /// but the rows of an input that comes too often are split one by one, and all rows are where an input
  /// comes more than ten times on average: then no new input is to be expected, and a part would miss whole
  /// categories.
  std::string kind = "auto";
  std::vector<std::string> not_inputs = {};  // the target and ignored columns
  double calibration_fraction = 0;           // of all rows, ceil; taken from what would train
};

/// Which rows a split keeps together.
struct RowGroups {
  std::vector<int64_t> of;  // [n] every row's, 0, 1, ... by first appearance
  int64_t count = 0;
  bool singly = false;  // "auto" found so few different inputs that every row is a group of its own
  int64_t large =
      0;  // inputs too frequent to be held out together: "auto" makes a group of each of their rows
  int64_t large_rows = 0;  // rows with such inputs
};

/// The groups of a table's rows as split_rows deals them: rows with identical inputs, or every row its own
/// group for "random" and where "auto" splits one by one. Throws std::invalid_argument as split_rows does.
RowGroups row_groups(const Table& table, const SplitOptions& options);

/// The same for examples whose identical ones are known: alike[i] is the number of the group of example i,
/// numbered 0, 1, ... by first appearance.
RowGroups row_groups(const std::vector<int64_t>& alike, const SplitOptions& options);

/// The group of each of these rows, numbered anew by first appearance among them. [rows.size()]
std::vector<int64_t> groups_among(const RowGroups& groups, const std::vector<int64_t>& rows);

/// A seeded split; a calibration part leaves the test and validation rows what they are without one. A part
/// of grouped rows may exceed its size by less than its last group, which takes at most a sixth of the
/// training rows' share and two sizes of the smallest part. Throws std::invalid_argument for fractions
/// outside [0, 1), a sum of 1 or more, an unknown kind, when no training row would be left, or when "grouped"
/// has no group that can be held out.
SplitRows split_rows(const Table& table, const SplitOptions& options, const Stream& stream);

/// The same for examples whose identical ones are known, as row_groups takes them.
SplitRows split_rows(const std::vector<int64_t>& alike, const SplitOptions& options, const Stream& stream);

}  // namespace slimbayes
