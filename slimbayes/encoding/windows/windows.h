#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/windows/time_series.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The windows of a table of time series. A run is a sequence of rows of one series without a gap in time. A
/// window is `window` successive rows of a run; it predicts the row `horizon` rows after its last one.
struct Windows : TimeSeries {
  WindowOptions options = {};  // those that find_windows was called with
  std::vector<int64_t> last;   // [m] the place in `order` of each window's last row
  /// [m] the place in `order` of the row that each window predicts; -1 if the run ends before it.
  std::vector<int64_t> target;
  int64_t longest = 0;  // number of rows of the longest run

  /// Returns the time that each window predicts, [m]: the time of the predicted row if it is in the table,
  /// else the time of the window's last row plus `horizon` steps. The rounding error of this sum is removed:
  /// 0.1 + 2 * 0.1 gives 0.3.
  SLIMBAYES_EXPORT std::vector<double> forecast_times(const WindowOptions& options) const;
};

/// Returns all windows of a table whose rows `series` has sorted. If fill_gaps has inserted rows, a window
/// that ends in an inserted row is left out unless it predicts a row that was in the table before. Adds notes
/// to the result's `notes` on how many windows the remaining gaps cost, and on runs shorter than a window.
/// Throws std::invalid_argument if no run is as long as a window.
SLIMBAYES_EXPORT Windows find_windows(const Table& table, TimeSeries series, const WindowOptions& options);

/// Returns all windows of a table, without filling gaps: find_series followed by find_windows, with the
/// errors of both. `step` is as in find_series.
SLIMBAYES_EXPORT Windows find_windows(const Table& table, const WindowOptions& options,
                                      std::optional<double> step = {});

/// Returns the windows for which the predicted row is in the table and its cell in the column `target` is
/// present, as indices into Windows::last, ascending.
SLIMBAYES_EXPORT std::vector<int64_t> windows_with_target(const Table& table, const Windows& windows,
                                                          const std::string& target);

}  // namespace slimbayes
