#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/data/time_series.h"

namespace slimbayes {

/// The windows of a table. A run is a sequence of rows of one series without a gap in time; a window is
/// `window` successive rows of a run.
struct Windows : TimeSeries {
  WindowOptions options = {};  // the options of find_windows
  std::vector<int64_t> last;   // [m] the place in `order` of each window's last row
  /// [m] the place in `order` of the row that each window predicts; -1 if it lies beyond the end of the run.
  std::vector<int64_t> target;
  int64_t longest = 0;  // rows of the longest run

  /// Returns the time that each window predicts: that of the predicted row if it is in the table, or else the
  /// time of the window's last row plus `horizon` steps. The sum is rounded to decimals, so that 0.1 + 2 *
  /// 0.1 gives 0.3. [m]
  std::vector<double> forecast_times(const WindowOptions& options) const;
};

/// Finds every window of the series of this table. fill_gaps may have filled its gaps; a window that ends in
/// an inserted row is then left out unless it predicts a row of the table. Adds a note on how many windows
/// the remaining gaps cost. Throws std::invalid_argument if no run is as long as a window.
Windows find_windows(const Table& table, TimeSeries series, const WindowOptions& options);

/// Returns the windows of find_series(table, options, step), without filling gaps. Throws as both.
Windows find_windows(const Table& table, const WindowOptions& options, std::optional<double> step = {});

/// Returns the indices into Windows::last of the windows whose target is in the table, ascending.
std::vector<int64_t> windows_with_target(const Table& table, const Windows& windows,
                                         const std::string& target);

}  // namespace slimbayes
