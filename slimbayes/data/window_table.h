#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/data/windows.h"

namespace slimbayes {

/// Some windows of a time series in a table. The table is shared, because windows overlap: each row is stored
/// once.
struct WindowTable {
  std::shared_ptr<const Table> table;
  std::shared_ptr<const Windows> windows;
  std::vector<int64_t> selected;  // indices into Windows::last, one per window
};

/// Finds the windows of a table; if `target` is a column's name, only those whose target is in the table.
/// `step` is as in find_series. Throws as find_windows, and std::invalid_argument if no window is left.
WindowTable window_table(Table table, const WindowOptions& options, std::optional<double> step,
                         const std::string& target);

/// Returns the rows of the table whose targets these windows predict. Throws std::invalid_argument for a
/// window whose target lies beyond the table.
Table target_rows(const WindowTable& windows);

/// Returns the row of the table at which a window ends, given the window's index in `selected`. Messages and
/// the columns of --keep refer to this row.
int64_t last_row(const WindowTable& windows, int64_t example);

}  // namespace slimbayes
