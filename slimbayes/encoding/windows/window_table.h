#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/windows/windows.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// A table with a time series and some windows of it. Windows overlap, so they refer to rows of the shared
/// table: each row is stored once.
struct WindowTable {
  std::shared_ptr<const Table> table;
  std::shared_ptr<const Windows> windows;
  std::vector<int64_t> selected;  // indices into Windows::last, one per window
};

/// Returns the windows of a table, whose gaps are filled first with options.fill_gaps. If `target` is the
/// name of a column, only windows whose target is in the table are selected; if it is "", all. `step` is the
/// step of the training rows if there is a fitted model, as in find_series. Throws as find_windows, and
/// std::invalid_argument if no window is left.
SLIMBAYES_EXPORT WindowTable window_table(Table table, const WindowOptions& options,
                                          std::optional<double> step, const std::string& target);

/// Returns a table of the rows that the selected windows predict, one per window. Throws
/// std::invalid_argument for a window whose predicted row lies beyond the table.
SLIMBAYES_EXPORT Table target_rows(const WindowTable& windows);

/// Returns the index in the table of the last row that a window sees. `example` is the window's index in
/// `selected`. Messages and the columns of --keep use this row to identify a window.
SLIMBAYES_EXPORT int64_t last_row(const WindowTable& windows, int64_t example);

}  // namespace slimbayes
