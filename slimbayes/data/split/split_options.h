#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

struct SplitOptions {
  // FitOptions has the defaults.
  double valid_fraction;  // share of all rows, rounded up
  double test_fraction;   // share of all rows, rounded up
  /// How rows with identical inputs are dealt to the parts:
  /// - "grouped": they stay in one part. Rows whose input occurs too often to be held out stay in training,
  ///   and the fractions refer to the other rows.
  /// - "random": each row is dealt separately.
  /// - "auto": as "grouped", with these exceptions. Rows whose input occurs too often to be held out are
  ///   dealt separately. If an input occurs more than ten times on average, all rows are dealt separately:
  ///   the model will then be used on inputs that it knows, and holding out groups would remove whole
  ///   categories from training. Rows in which an input is missing are grouped only if they are equal in
  ///   every column, because two missing cells need not stand for the same value.
  std::string kind;
  std::vector<std::string> not_inputs = {};  // the target and the ignored columns
  /// Columns that the user declared to hold names (FitOptions::categorical). They are inputs whatever their
  /// header is.
  std::vector<std::string> declared = {};
  double calibration_fraction = 0;  // share of all rows, rounded up; it reduces the training part
  std::string_view noun = "row";    // the word for one example in notes
  int64_t folds = 0, fold = 0;      // FitOptions::test_folds and test_fold
  /// Whether a split by time leaves out the rows whose time is wild (FitOptions::wild_cells).
  bool without_wild_times = false;
};

/// Throws std::invalid_argument for n = 0, fractions outside [0, 1), a sum of 1 or more, an unknown kind, or
/// folds that are not from 2 to n.
SLIMBAYES_EXPORT void check_split(const SplitOptions& options, int64_t n);

/// The numbers of rows of the test, the validation and the calibration part, in this order.
using PartSizes = std::array<int64_t, 3>;

/// Returns how many of n rows the fractions give to each of these parts.
SLIMBAYES_EXPORT PartSizes part_sizes(const SplitOptions& options, int64_t n);

/// Limits on groups of identical rows, so that the parts come close to the sizes that were asked for.
struct Allowance {
  int64_t excess;  // by how many rows a part may exceed the size asked for
  int64_t most;    // rows of the largest group that may be held out as a whole
};

/// Returns the limits for n rows: a part may exceed its size by at most twice the size of the smallest part
/// and at most a sixth of the training rows. Calibration rows count as training rows here, and their part is
/// the smallest part only if it is the only one held out, because the test and validation parts must be the
/// same with and without calibration.
SLIMBAYES_EXPORT Allowance allowance(const SplitOptions& options, int64_t n);

}  // namespace slimbayes
