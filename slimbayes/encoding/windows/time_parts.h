#pragma once

#include <span>
#include <string>
#include <vector>

namespace slimbayes {

/// The time of a row, or why it has none.
struct RowTime {
  double seconds = 0;      // since 1970
  std::string fault = {};  // a sentence on the cell that is none; "" if there is a time
};

/// Composes the time of a row from columns of numbers that are named year, month, day, hour, minute, second.
/// A missing column for the month or day counts as 1, one for the hour, minute or second as 0.
class TimeParts {
 public:
  /// Throws std::invalid_argument for another name and without a year.
  explicit TimeParts(std::vector<std::string> names);

  /// Returns the time of the row with these cells, finite, in the order of the names. It has none where a
  /// cell is out of its range, or the month has no such day.
  RowTime of(std::span<const double> cells) const;

 private:
  std::vector<std::string> names_;
  std::vector<size_t> part_;  // of each name: 0 for the year to 5 for the second
};

}  // namespace slimbayes
