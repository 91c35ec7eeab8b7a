#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/split.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

inline constexpr double kDay = 86400;  // seconds

/// How the rows of a time series become forecasts: each forecast sees `window` rows and predicts the row that
/// is `horizon` rows after the last of them.
struct WindowOptions {
  int64_t window;   // 1 to kLongestWindow; FitOptions has the defaults
  int64_t horizon;  // likewise
  /// One column of times or numbers, or several columns named year, month, day, hour, minute, second.
  std::vector<std::string> time = {};
  /// Columns whose values tell one series from another; empty: one series.
  std::vector<std::string> group = {};

  bool operator==(const WindowOptions&) const = default;
};

/// The windows of a table. A run is a sequence of rows of one series without a gap in time; a window is
/// `window` successive rows of a run.
struct Windows {
  WindowOptions options = {};  // that find_windows was called with
  std::vector<int64_t> order;  // rows of the table, sorted by series, then by time
  /// [n] time of each place in `order`: seconds since 1970, or the time column's numbers.
  std::vector<double> time;
  double step = 1;            // time from row to row: the commonest difference, or the given step
  bool calendar = false;      // whether times are seconds
  std::vector<int64_t> last;  // [m] the place in `order` of each window's last row
  /// [m] the place in `order` of the row that each window predicts; -1 if it lies beyond the end of the run.
  std::vector<int64_t> target;
  int64_t longest = 0;  // rows of the longest run
  std::vector<std::string> notes;

  /// Returns the time of the row that each window predicts. [m]
  std::vector<double> forecast_times(const WindowOptions& options) const;
};

/// Sorts the rows and finds every window. Throws std::invalid_argument for a time or group column that is
/// absent or of another kind, for sizes below 1 or above kLongestWindow, and if no run is as long as a
/// window. Throws DataError for a missing time, and for two rows of one series with the same time. If `step`
/// is given (that of the training rows), successive rows are that far apart, and a table without two such
/// rows throws std::invalid_argument.
Windows find_windows(const Table& table, const WindowOptions& options, std::optional<double> step = {});

/// Returns the indices into Windows::last of the windows whose target is in the table, ascending.
std::vector<int64_t> windows_with_target(const Table& table, const Windows& windows,
                                         const std::string& target);

/// Splits the windows `usable` (see windows_with_target) by the time of their forecasts: training first, then
/// validation, calibration and test. Each part is a share of these windows (SplitOptions; kind "auto"). After
/// each part, windows are left out whose forecast is at most window + horizon - 1 steps later, so that no row
/// is seen from both sides. The lists hold indices into `usable`. Throws std::invalid_argument as split_rows,
/// for another kind, and if a part is left empty.
SplitRows split_windows(const Windows& windows, const std::vector<int64_t>& usable,
                        const WindowOptions& options, const SplitOptions& split);

}  // namespace slimbayes
