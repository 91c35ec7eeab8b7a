#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

inline constexpr double kDay = 86400;      // seconds
inline constexpr double kSameTime = 1e-6;  // relative tolerance within which two time differences are equal

/// How the rows of a time series become forecasts: each forecast sees `window` rows and predicts the row that
/// is `horizon` rows after the last of them.
struct WindowOptions {
  int64_t window;   // 1 to kLongestWindow; FitOptions has the defaults
  int64_t horizon;  // likewise
  /// One column of times or numbers, or several columns named year, month, day, hour, minute, second.
  std::vector<std::string> time = {};
  /// Columns whose values tell one series from another; empty: one series.
  std::vector<std::string> group = {};
  /// Whether rows are inserted at missing steps (fill_gaps) and missing inputs carried forward (carried).
  bool fill_gaps = false;

  bool operator==(const WindowOptions&) const = default;
};

/// The rows of a table in the order of their series and times. A place is an index into `order`.
struct TimeSeries {
  std::vector<int64_t> order;  // rows of the table, sorted by series, then by time
  /// [n] time of each place: seconds since 1970, or the time column's numbers.
  std::vector<double> time;
  std::vector<int64_t> number;  // [n] number of each place's series, from 0
  double step = 1;              // time from row to row: the commonest difference, or the given step
  bool calendar = false;        // whether times are seconds
  bool fitted = false;          // whether the step was given: that of a model's training rows
  int64_t inserted = 0;         // rows that fill_gaps inserted: the last ones of the table
  std::vector<std::string> notes = {};

  /// Returns whether the row at this place comes one step after the row at the place before, in one series.
  bool follows(int64_t place) const;
  /// Returns whether fill_gaps inserted the row at this place.
  bool is_inserted(int64_t place) const;
};

/// Returns by how much two time differences may differ and still count as equal, because times are rounded to
/// doubles. `time` is the later of the two times.
double time_tolerance(double difference, double time);

/// Sorts the rows. Throws std::invalid_argument for a time or group column that is absent or of another kind,
/// for sizes below 1 or above kLongestWindow, and for times so large that their rounding hides a step. Throws
/// DataError for a missing time, and for two rows of one series with the same time. `step` is that of the
/// training rows, if there is a model; the series then uses it, and a table without two rows that far apart
/// throws std::invalid_argument.
TimeSeries find_series(const Table& table, const WindowOptions& options, std::optional<double> step = {});

}  // namespace slimbayes
