#include "slimbayes/encoding/windows/window_table.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/windows/gaps.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

WindowTable window_table(Table table, const WindowOptions& options, std::optional<double> step,
                         const std::string& target) {
  TimeSeries series = find_series(table, options, step);
  if (options.fill_gaps) fill_gaps(table, series, options);
  Windows found = find_windows(table, std::move(series), options);
  std::vector<int64_t> selected(found.last.size());
  std::iota(selected.begin(), selected.end(), 0);
  if (!target.empty()) {
    selected = windows_with_target(table, found, target);
    const int64_t needed = options.window + options.horizon, all = std::ssize(found.last);
    if (selected.empty())
      refuse(
          "windows",
          fmt::format("windows whose {} is in the table, {} after the last that they see (runs of {} rows)",
                      in_quotes(target), counted(options.horizon, "row"), needed),
          fmt::format("none in {}; the longest run without a gap has {}", counted(all, "window"),
                      counted(found.longest, "row")),
          found.longest >= needed ? "give rows that have it"
          : step                  ? "give more rows"
                 : "give more rows, or lower `.window`; where steps vary, as months do, number the rows and "
                   "give that column to `.time`");
    if (const int64_t without = all - std::ssize(selected); without > 0)
      found.notes.push_back(
          fmt::format("{} of {} {} no {} to compare with, at the end of a run or where it is missing: left "
                      "out",
                      without, counted(all, "window"), without == 1 ? "has" : "have", in_quotes(target)));
  }
  return {std::make_shared<const Table>(std::move(table)), std::make_shared<const Windows>(std::move(found)),
          std::move(selected)};
}

Table target_rows(const WindowTable& windows) {
  std::vector<int64_t> rows;
  for (int64_t i : windows.selected) {
    const int64_t place = windows.windows->target[static_cast<size_t>(i)];
    check(place >= 0, "windows", "windows whose target lies in the table", "one beyond its end");
    rows.push_back(windows.windows->order[static_cast<size_t>(place)]);
  }
  return take_rows(*windows.table, rows);
}

int64_t last_row(const WindowTable& windows, int64_t example) {
  const int64_t place =
      windows.windows->last[static_cast<size_t>(windows.selected[static_cast<size_t>(example)])];
  return windows.windows->order[static_cast<size_t>(place)];
}

}  // namespace slimbayes
