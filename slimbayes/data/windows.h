#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/split.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

/// The longest window, and the farthest horizon.
inline constexpr int64_t kLongestWindow = 100000;

/// How the rows of a table become forecasts: each sees `window` rows and answers for the row `horizon` rows
/// later.
struct WindowOptions {
  int64_t window = 24;
  int64_t horizon = 1;
  std::vector<std::string> time =
      {};  // one column of times or numbers, or those named year, month, day, hour, ...
  std::vector<std::string> group = {};  // columns whose values tell one series from another; none: one series
};

/// The windows of a table: runs of rows that follow each other without a gap within a series.
struct Windows {
  std::vector<int64_t> order;  // [n] rows of the table by series, then by time
  std::vector<double> time;  // [n] of each place in `order`: seconds since 1970, or what the time column says
  double step = 1;           // from row to row; the commonest difference
  bool calendar = false;     // whether times are seconds
  std::vector<int64_t> last;  // [m] the place in `order` of each window's last row
  std::vector<int64_t>
      target;  // [m] the place of the row that it answers for; -1 where that lies beyond the run's end
  std::vector<std::string> notes;

  /// The time of each forecast. [m]
  std::vector<double> forecast_times(const WindowOptions& options) const;
};

/// Sorts the rows and finds every window. Throws std::invalid_argument for a time or group column that is
/// absent or of another kind, sizes below 1, and when no run is as long as a window; DataError for a missing
/// time and for two rows of one time in a series.
/// With `step`, that of the training rows, rows that are that far apart follow each other, and a table without any such
/// rows throws std::invalid_argument.
Windows find_windows(const Table& table, const WindowOptions& options, std::optional<double> step = {});

/// The places in Windows::last of the windows whose target is in the table, ascending.
std::vector<int64_t> windows_with_target(const Table& table, const Windows& windows,
                                         const std::string& target);

/// A chronological split of these windows, `usable` (windows_with_target), by the time of their forecast:
/// training first, then validation, calibration and test, each a share of those windows (SplitOptions; kind
/// "auto"). Between two parts window + horizon - 1 steps are left out, so that no row is seen from both
/// sides. The lists hold places in `usable`. Throws std::invalid_argument as split_rows, and where a part is
/// left empty.
SplitRows split_windows(const Windows& windows, const std::vector<int64_t>& usable,
                        const WindowOptions& options, const SplitOptions& split);

}  // namespace slimbayes
