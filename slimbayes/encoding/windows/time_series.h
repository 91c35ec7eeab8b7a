#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/export.h"

namespace slimbayes {

inline constexpr double kDay = 86400;      // seconds
inline constexpr double kSameTime = 1e-6;  // relative tolerance within which two time differences are equal

/// How a time series is cut into windows: each window is an input of `window` rows, from which the row
/// `horizon` rows after the last one is predicted.
struct WindowOptions {
  int64_t window;   // rows, 1 to kLongestWindow; FitOptions has the defaults
  int64_t horizon;  // rows, 1 to kLongestWindow
  /// Columns that give the time of a row: one column of dates or numbers, or several columns of numbers named
  /// year, month, day, hour, minute, second.
  std::vector<std::string> time = {};
  /// Columns whose values tell to which series a row belongs; empty if all rows are one series.
  std::vector<std::string> group = {};
  /// Whether rows are inserted for missing times (fill_gaps) and missing inputs are replaced by the last
  /// known ones (carried).
  bool fill_gaps = false;

  bool operator==(const WindowOptions&) const = default;
};

/// The rows of a table, sorted by their series and, within a series, by time. A place is an index into
/// `order`.
struct SLIMBAYES_EXPORT TimeSeries {
  std::vector<int64_t> order;  // index in the table of the row at each place
  /// [n] time of the row at each place: seconds since 1970, or the numbers of the time column.
  std::vector<double> time;
  std::vector<int64_t> number;  // [n] number of the series of the row at each place, from 0
  double step = 1;              // time from row to row: the most frequent, or that of a fitted model
  bool calendar = false;        // whether times are dates, in seconds
  bool fitted = false;          // whether the step is that of a fitted model, and not of these rows
  int64_t inserted = 0;         // number of rows that fill_gaps inserted at the end of the table
  std::vector<std::string> notes = {};

  /// Returns whether the row at this place belongs to the same series as the row at the place before and is
  /// one step later.
  bool follows(int64_t place) const;
  /// Returns whether fill_gaps inserted the row at this place.
  bool is_inserted(int64_t place) const;
};

/// The times of the rows of a table.
struct TimesOfRows {
  std::vector<double> of_row;  // seconds since 1970, or the numbers of the time column
  bool calendar;               // whether they are dates, in seconds
};

/// Returns the times that these columns give (WindowOptions::time). `fitted`: whether the rows are for a
/// fitted model, whose time columns no option can change. Throws std::invalid_argument for a column that is
/// absent or of another kind, DataError for a missing time.
SLIMBAYES_EXPORT TimesOfRows times_of_rows(const Table& table, const std::vector<std::string>& columns,
                                           bool fitted = false);

/// Returns by how much two time differences may differ and still count as equal, because times are rounded to
/// doubles. `difference` is one of them, `time` the later of its two times.
SLIMBAYES_EXPORT double time_tolerance(double difference, double time);

/// Returns the rows of a table sorted by series and time, with the step between rows: `step` if it is given,
/// else the most frequent difference of successive times. Give the step of the training rows if there is a
/// fitted model.
/// Throws std::invalid_argument for a time or group column that is absent or of another kind, for a window or
/// horizon below 1 or above kLongestWindow, for times so large that their rounding hides a step, and if
/// `step` is given but no two successive rows are that far apart. Throws DataError for a missing time, and
/// for two rows of one series with the same time.
SLIMBAYES_EXPORT TimeSeries find_series(const Table& table, const WindowOptions& options,
                                        std::optional<double> step = {});

}  // namespace slimbayes
