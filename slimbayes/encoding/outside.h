#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// How far the rows of a table lie from the training rows, over the columns of numbers, booleans and dates.
/// Use it to see which predictions are extrapolations. A missing cell counts as inside the range, because it
/// is imputed with the training mean.
struct Outside {
  /// A column in which some rows lie outside the training range.
  struct Beyond {
    std::string name;
    int64_t rows = 0;     // number of rows outside the training range
    int64_t row = 0;      // the farthest of these rows: its index from 0 in the table
    double farthest = 0;  // how far that row lies beyond the range, in half-ranges
  };
  int64_t rows = 0;             // number of rows outside the training range of at least one column
  std::vector<Beyond> columns;  // those with rows outside their range, farthest first
  /// [n] how far each row lies beyond the training range, in half-ranges: the largest value over its columns;
  /// 0 inside.
  std::vector<double> beyond;
  std::vector<double> distance;  // [n] root mean square over the columns of (x - training mean) / training sd
};

/// Returns how many half-ranges the number x lies beyond the training range of its column, which has one; 0
/// inside and for what may be rounding.
SLIMBAYES_EXPORT double half_ranges_beyond(double x, const Encoder::Feature& feature);

/// The distance of one row (Outside::distance), column by column.
class DistanceSum {
 public:
  /// Adds the number x of a column that has a training range; NaN, a missing cell, adds nothing to the sum.
  SLIMBAYES_EXPORT void add(double x, const Encoder::Feature& feature);
  /// Returns the root mean square over the columns, at most the largest double; NaN without a column.
  SLIMBAYES_EXPORT double root_mean_square() const;

 private:
  double squares_ = 0, large_ = 0;  // large_: of the steps whose square overflows; hypot takes much longer
  int64_t columns_ = 0;
};

/// Measures how far each row of `table` lies from the training rows. An excess over the range below 1e-6
/// half-ranges is taken for rounding and counts as inside; a value that overflows becomes the largest double.
/// Returns nullopt if no column has a stored training range: for events, whose domain is given by the user,
/// and if all inputs are categorical. Throws std::invalid_argument for a missing column.
SLIMBAYES_EXPORT std::optional<Outside> outside(const Encoder& encoder, const Table& table);

/// Returns a sentence on the rows outside the range, with their farthest columns: "3 of 60 rows lie outside
/// the training range: 'size' (3 rows; data row 7 lies 43.2 half-ranges beyond), ...". Returns "" if no row
/// lies outside.
SLIMBAYES_EXPORT std::string outside_text(const Outside& far, const Table& table);

}  // namespace slimbayes
