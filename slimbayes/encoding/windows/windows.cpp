// Finds the windows of a table of time series: sequences of rows that follow each other without a gap.
#include "slimbayes/encoding/windows/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/windows/gaps.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

constexpr const char* kWindows = "windows";

/// Returns the cell of a column in the row at this place (an index into Windows::order).
double cell_at(const Column& column, const Windows& windows, int64_t place) {
  return column.values[static_cast<size_t>(windows.order[static_cast<size_t>(place)])];
}

/// Numbers of runs (sequences of rows of a series without a gap in time): how many there are, how many are
/// shorter than a window, and the rows of the longest.
struct Runs {
  int64_t runs = 0, too_short = 0, longest = 0;
  int64_t left_out = 0;  // windows not added because they end in an inserted row
};

/// Adds the windows of every run to `windows`, and returns the numbers of runs. A window that ends in an
/// inserted row is added only if it predicts a row that was in the table before. Otherwise it would repeat a
/// forecast: the window that ends in the last row with data forecasts from the same data.
Runs add_windows(Windows& windows, const WindowOptions& options) {
  Runs count;
  const int64_t n = std::ssize(windows.order);
  for (int64_t first = 0; first < n;) {
    int64_t end = first + 1;
    while (end < n && windows.follows(end)) ++end;
    ++count.runs;
    count.longest = std::max(count.longest, end - first);
    count.too_short += end - first < options.window;
    for (int64_t last = first + options.window - 1; last < end; ++last) {
      const int64_t target = last + options.horizon < end ? last + options.horizon : -1;
      if (windows.is_inserted(last) && (target < 0 || windows.is_inserted(target))) {
        ++count.left_out;
        continue;
      }
      windows.last.push_back(last);
      windows.target.push_back(target);
    }
    first = end;
  }
  return count;
}

/// Returns how many windows there would be without gaps. Gaps that can be filled are counted as filled; at
/// every other gap, the rows before and after are counted as if they were one step apart.
int64_t windows_without_gaps(const TimeSeries& series, const std::vector<Gap>& gaps,
                             const WindowOptions& options) {
  Windows filled;
  static_cast<TimeSeries&>(filled) = with_steps(series, gaps);
  const int64_t left_out = add_windows(filled, options).left_out;
  std::vector<int64_t> rows(filled.number.empty() ? 0 : 1 + *std::ranges::max_element(filled.number));
  for (const int64_t number : filled.number) ++rows[static_cast<size_t>(number)];
  int64_t all = -left_out;
  for (const int64_t count : rows) all += std::max<int64_t>(0, count - options.window + 1);
  return all;
}

/// Returns a clause on what --fill-gaps does with these gaps, or would do if it were given.
std::string filling(const TimeSeries& series, const std::vector<Gap>& gaps, const WindowOptions& options) {
  const auto fillable = std::ranges::count_if(gaps, [](const Gap& gap) { return gap.missing > 0; });
  const char* command = series.fitted && !options.fill_gaps ? "a fit with `.fill_gaps`" : "`.fill_gaps`";
  if (fillable == 0 || options.fill_gaps)
    return fmt::format(
        "{} {} {}: it inserts whole numbers of steps below a window ({}), and at most ten rows for each that "
        "there is",
        command, options.fill_gaps ? "leaves" : "would leave", gaps.size() == 1 ? "it" : "them",
        options.window);
  if (fillable == std::ssize(gaps)) return fmt::format("{} inserts the missing rows", command);
  return fmt::format(
      "{} inserts the missing rows of {}: the others are no whole numbers of steps below a window ({})",
      command, fillable, options.window);
}

/// Returns a note on the gaps that remain, over which no window reaches: how many windows they cost, where
/// they are, and whether --fill-gaps would fill them. Returns "" if there are none.
std::string gap_note(const Table& table, const Windows& windows, const WindowOptions& options) {
  const std::vector<Gap> gaps = gaps_of(windows, options.window);
  if (gaps.empty()) return "";
  const int64_t all = windows_without_gaps(windows, gaps, options);
  return fmt::format(
      "{} in time (steps other than {:g}{}): no window reaches over {}, which costs {} of {}; {}; {}",
      counted(std::ssize(gaps), "gap"), windows.step, windows.calendar ? " s" : "",
      gaps.size() == 1 ? "it" : "one", all - std::ssize(windows.last), counted(all, "window"),
      where_text(table, windows, options, gaps), filling(windows, gaps, options));
}

/// Throws std::invalid_argument if there is no window. Unless a model is already fitted (`fitted`), the
/// message asks for runs that are longer than a window by the horizon, because training needs the row that is
/// predicted.
void check_runs(const Windows& windows, const WindowOptions& options, bool fitted) {
  const char* unit = windows.calendar ? " s" : "";
  const int64_t needed = options.window + (fitted ? 0 : options.horizon);
  if (!(!windows.last.empty() || windows.longest > 1))
    refuse(kWindows, fmt::format("{} of a series that follow each other in time", counted(needed, "row")),
           "no series with two rows",
           options.group.empty()
               ? "give more rows"
               : "give more rows, or name other columns by `.group`: each row is a series of "
                 "its own");
  if (windows.last.empty())
    refuse(kWindows,
           fmt::format("at least {} that follow each other in steps of {:g}{}, for a window of {}{}",
                       counted(needed, "row"), windows.step, unit, options.window,
                       fitted ? "" : fmt::format(" and a horizon of {}", options.horizon)),
           fmt::format("at most {}", windows.longest),
           fitted
               ? (options.fill_gaps ? "give more rows" : "give more rows, or fit again with `.fill_gaps`")
               : "lower `.window`, or fill the gaps (`.fill_gaps`); where steps vary, as months do, number "
                 "the rows "
                 "and give that column to `.time`");
}

/// Removes the rounding error from a time that is a sum of doubles: returns the decimal number with the
/// fewest digits that equals it within rounding (0.3 for 0.1 + 2 * 0.1). Returns the time itself if the
/// rounding error is not small compared with a step.
double rounded_time(double time, double step) {
  const double unit = std::pow(10, std::ceil(std::log10(time_tolerance(step, time))));
  if (!(unit < step / 2)) return time;
  const int digits = static_cast<int>(std::max(0.0, -std::log10(unit) + 0.5));
  return std::strtod(fmt::format("{:.{}f}", time, digits).c_str(), nullptr);
}

}  // namespace

std::vector<double> Windows::forecast_times(const WindowOptions& options) const {
  std::vector<double> times;
  times.reserve(last.size());
  for (size_t i = 0; i < last.size(); ++i) {
    const double computed = time[static_cast<size_t>(last[i])] + step * static_cast<double>(options.horizon);
    times.push_back(target[i] >= 0 ? time[static_cast<size_t>(target[i])] : rounded_time(computed, step));
  }
  return times;
}

Windows find_windows(const Table& table, const WindowOptions& options, std::optional<double> step) {
  return find_windows(table, find_series(table, options, step), options);
}

Windows find_windows(const Table& table, TimeSeries series, const WindowOptions& options) {
  Windows windows;
  static_cast<TimeSeries&>(windows) = std::move(series);
  windows.options = options;
  const Runs count = add_windows(windows, options);
  windows.longest = count.longest;
  check_runs(windows, options, windows.fitted);
  windows.notes.push_back(gap_note(table, windows, options));
  std::erase(windows.notes, "");
  if (count.too_short > 0)
    windows.notes.push_back(fmt::format("{} of {} without a gap {} shorter than a window of {}: left out",
                                        count.too_short, counted(count.runs, "run"),
                                        count.too_short == 1 ? "is" : "are", counted(options.window, "row")));
  return windows;
}

std::vector<int64_t> windows_with_target(const Table& table, const Windows& windows,
                                         const std::string& target) {
  const Column* found = table.find(target);
  if (found == nullptr)
    refuse(kWindows, fmt::format("a target column {}", in_quotes(target)), "a table without it",
           nearest_hint(target, table.names()));
  const Column& column = *found;
  std::vector<int64_t> usable;
  for (int64_t i = 0; i < std::ssize(windows.last); ++i) {
    const int64_t at = windows.target[static_cast<size_t>(i)];
    if (at >= 0 && !std::isnan(cell_at(column, windows, at))) usable.push_back(i);
  }
  return usable;
}

}  // namespace slimbayes
