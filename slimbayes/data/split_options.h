#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

struct SplitOptions {
  // FitOptions has the defaults.
  double valid_fraction;  // share of all rows, rounded up
  double test_fraction;   // share of all rows, rounded up
  /// How rows with identical inputs are dealt:
  /// - "grouped": they stay in one part. An input that occurs too often to be held out stays in training, and
  ///   the fractions refer to the other rows.
  /// - "random": each row is dealt separately.
  /// - "auto": grouped, but the rows of an input that occurs too often are dealt separately. All rows are
  ///   dealt separately if an input occurs more than ten times on average: the model will then be used on
  ///   known inputs, and a grouped part would miss whole categories. Rows that lack an input are grouped only
  ///   if they are equal in every column: two missing cells need not have the same value.
  std::string kind;
  std::vector<std::string> not_inputs = {};  // the target and ignored columns
  double calibration_fraction = 0;  // share of all rows, rounded up; taken from the rows that would train
  std::string_view noun = "row";    // the word for one example in notes
};

/// Throws std::invalid_argument for n = 0, fractions outside [0, 1), a sum of 1 or more, or an unknown kind.
void check_split(const SplitOptions& options, int64_t n);

/// Numbers of rows that are held out: of the test, the validation and the calibration part.
using PartSizes = std::array<int64_t, 3>;

/// Returns how many of n rows go to each of these parts.
PartSizes part_sizes(const SplitOptions& options, int64_t n);

/// Limits on how far groups of identical rows may change the sizes of the parts.
struct Allowance {
  int64_t excess;  // rows by which a part may exceed its size
  int64_t most;    // largest number of rows of one input that are dealt together
};

/// Returns the allowance for n rows: a part exceeds its size by at most twice the smallest part and at most a
/// sixth of the training rows' share. If test or validation rows are held out, calibration rows do not count,
/// because the other parts must be the same with and without them.
Allowance allowance(const SplitOptions& options, int64_t n);

}  // namespace slimbayes
