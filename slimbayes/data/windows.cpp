// Finds the windows of a table of time series: which rows follow each other, and which windows may be in the
// same part of a split.
#include "slimbayes/data/windows.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table_cell.h"

namespace slimbayes {

namespace {

constexpr const char* kWindows = "windows";
constexpr double kSame = 1e-6;  // relative tolerance within which two time differences are equal

const Column& column_of(const Table& table, const std::string& name, const char* what) {
  const Column* column = table.find(name);
  check(column != nullptr, kWindows, fmt::format("a {} column {}", what, in_quotes(name)),
        "a table without it", nearest_hint(name, table.names()));
  return *column;
}

double time_in(const Table& table, const Column& column, int64_t row) {
  const double x = column.values[static_cast<size_t>(row)];
  if (!std::isfinite(x))
    throw_bad_cell(table, row,
                   fmt::format("expected a time in {}; received {}; remove the row", in_quotes(column.name),
                               std::isnan(x) ? "a missing cell" : "an infinite number"));
  return x;
}

/// Returns days from 1970-01-01 in the Gregorian calendar (Hinnant, chrono-compatible low-level date
/// algorithms).
int64_t days_from(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// Returns seconds since 1970 from columns named year, month, day, hour, minute, second. An absent month or
/// day is 1, an absent hour, minute or second is 0. Throws DataError for a value out of range.
std::vector<double> composed_times(const Table& table, const std::vector<std::string>& names) {
  constexpr const char* kParts[] = {"year", "month", "day", "hour", "minute", "second"};
  constexpr double kLow[] = {1, 1, 1, 0, 0, 0}, kHigh[] = {9999, 12, 31, 24, 59, 60};
  const Column* parts[6] = {};
  for (const std::string& name : names) {
    const auto found = std::ranges::find(kParts, lower(name));
    check(found != std::end(kParts), kWindows,
          "one time column, or those named year, month, day, hour, minute, second", in_quotes(name),
          "name them so, or join them to one column of times");
    const Column& column = column_of(table, name, "time");
    check(column.kind == ColumnKind::numeric, kWindows, fmt::format("numbers in {}", in_quotes(name)),
          fmt::format("a {} column", kind_name(column.kind)));
    parts[found - std::begin(kParts)] = &column;
  }
  check(parts[0] != nullptr, kWindows, "a year among several time columns",
        fmt::format("{}", fmt::join(names, ", ")));
  std::vector<double> times;
  times.reserve(static_cast<size_t>(table.rows));
  for (int64_t row = 0; row < table.rows; ++row) {
    double value[6] = {0, 1, 1, 0, 0, 0};
    for (int p = 0; p < 6; ++p) {
      if (parts[p] == nullptr) continue;
      value[p] = time_in(table, *parts[p], row);
      if (value[p] < kLow[p] || value[p] > kHigh[p] || (p < 5 && value[p] != std::floor(value[p])))
        throw_bad_cell(table, row,
                       fmt::format("expected a {} from {} to {} in {}; received {}; correct the cell",
                                   kParts[p], kLow[p], kHigh[p], in_quotes(parts[p]->name), value[p]));
    }
    const int64_t days = days_from(static_cast<int64_t>(value[0]), static_cast<int64_t>(value[1]),
                                   static_cast<int64_t>(value[2]));
    times.push_back(static_cast<double>(days) * kDay + value[3] * 3600 + value[4] * 60 + value[5]);
  }
  return times;
}

struct Times {
  std::vector<double> of_row;
  bool calendar;
};

/// How a column of other times becomes one that is read. A fitted model has no flags.
const char* times_hint(bool fitted) {
  return fitted ? "write the times as in training"
                : "convert them, for instance by pandas.to_datetime, or give the year, month and day as "
                  "columns of "
                  "numbers: --time year,month,day";
}

Times times_of(const Table& table, const WindowOptions& options, bool fitted) {
  check(!options.time.empty(), kWindows, "a column of times for --window", "none",
        "name it by --time, for instance --time date or --time year,month,day,hour");
  if (options.time.size() > 1) return {composed_times(table, options.time), true};
  const Column& column = column_of(table, options.time[0], "time");
  const bool calendar = column.kind == ColumnKind::datetime;
  const std::string first =
      column.levels.empty() ? "" : fmt::format(" ({}, ...)", in_quotes(column.levels[0]));
  check(calendar || column.kind == ColumnKind::numeric, kWindows,
        fmt::format("ISO 8601 times (2014-12-31 or 2014-12-31T23:00:00) or numbers in {}",
                    in_quotes(column.name)),
        fmt::format("a {} column{}", kind_name(column.kind), first), times_hint(fitted));
  Times times{{}, calendar};
  for (int64_t row = 0; row < table.rows; ++row) times.of_row.push_back(time_in(table, column, row));
  return times;
}

/// Returns the number of each row's series [n]. Rows with equal values in every group column are one series.
std::vector<int64_t> series_of(const Table& table, const std::vector<std::string>& group) {
  std::vector<std::vector<double>> keys(static_cast<size_t>(table.rows));
  for (const std::string& name : group) {
    const Column& column = column_of(table, name, "group");
    for (int64_t row = 0; row < table.rows; ++row) {
      const double x = column.values[static_cast<size_t>(row)];
      keys[static_cast<size_t>(row)].push_back(std::isnan(x) ? -1e300 : x);  // missing values form one series
    }
  }
  std::map<std::vector<double>, int64_t> numbers;
  std::vector<int64_t> series;
  for (const auto& key : keys) series.push_back(numbers.try_emplace(key, std::ssize(numbers)).first->second);
  return series;
}

/// Returns how far two equal time differences may be apart after rounding: times near `latest` are rounded to
/// doubles.
double tolerance(double step, double latest) {
  return kSame * step + 8 * std::numeric_limits<double>::epsilon() * std::abs(latest);
}

/// Returns the commonest difference between neighbours of a series; the smallest if several are equally
/// common.
double common_step(const std::vector<double>& differences, double latest) {
  std::vector<double> sorted = differences;
  std::ranges::sort(sorted);
  double best = 1;
  int64_t most = 0;
  for (size_t i = 0; i < sorted.size();) {
    size_t j = i;
    while (j < sorted.size() && sorted[j] <= sorted[i] + tolerance(sorted[i], latest)) ++j;
    if (static_cast<int64_t>(j - i) > most) {
      most = static_cast<int64_t>(j - i);
      best = sorted[i + (j - i) / 2];  // the middle of differences that rounding has spread
    }
    i = j;
  }
  return best;
}

/// Returns the column's cell in the row at this place of Windows::order.
double cell_at(const Column& column, const Windows& windows, int64_t place) {
  return column.values[static_cast<size_t>(windows.order[static_cast<size_t>(place)])];
}

std::string same_time_hint(const WindowOptions& options, bool fitted) {
  if (!fitted) return "average them, remove one, or name the column that tells them apart by --group";
  return fmt::format("average them, or remove one: the model {}",
                     options.group.empty()
                         ? "was fitted on a single series"
                         : fmt::format("tells series apart by {} alone", fmt::join(options.group, ", ")));
}

/// Throws where no run of rows is as long as a window. A fit needs the row that is predicted, too.
void check_runs(const Windows& windows, const WindowOptions& options, bool fitted) {
  const char* unit = windows.calendar ? " s" : "";
  const int64_t needed = options.window + (fitted ? 0 : options.horizon);
  check(!windows.last.empty() || windows.longest > 1, kWindows,
        fmt::format("{} of a series that follow each other in time", counted(needed, "row")),
        "no series with two rows",
        options.group.empty() ? "give more rows"
                              : "give more rows, or name other columns by --group: each row is a series of "
                                "its own");
  check(
      !windows.last.empty(), kWindows,
      fmt::format("at least {} that follow each other in steps of {:g}{}, for a window of {}{}",
                  counted(needed, "row"), windows.step, unit, options.window,
                  fitted ? "" : fmt::format(" and a horizon of {}", options.horizon)),
      fmt::format("at most {}", windows.longest),
      fitted
          ? "give more rows, or fill the gaps"
          : "lower --window, or fill the gaps; where steps vary, as months do, number the rows and give that "
            "column to --time");
}

}  // namespace

std::vector<double> Windows::forecast_times(const WindowOptions& options) const {
  std::vector<double> times;
  times.reserve(last.size());
  for (int64_t place : last)
    times.push_back(time[static_cast<size_t>(place)] + step * static_cast<double>(options.horizon));
  return times;
}

Windows find_windows(const Table& table, const WindowOptions& options, std::optional<double> step) {
  for (const auto& [size, name] : {std::pair{options.window, "--window"}, {options.horizon, "--horizon"}})
    check(size >= 1 && size <= kLongestWindow, kWindows, fmt::format("{} from 1 to {}", name, kLongestWindow),
          fmt::format("{}", size));
  const bool fitted = step.has_value();
  const Times times = times_of(table, options, fitted);
  const std::vector<int64_t> series = series_of(table, options.group);
  const auto key = [&](int64_t row) {
    return std::pair{series[static_cast<size_t>(row)], times.of_row[static_cast<size_t>(row)]};
  };
  Windows windows;
  windows.options = options;
  windows.calendar = times.calendar;
  windows.order.resize(static_cast<size_t>(table.rows));
  std::iota(windows.order.begin(), windows.order.end(), 0);
  if (!std::ranges::is_sorted(windows.order, {}, key)) {
    std::ranges::stable_sort(windows.order, {}, key);
    windows.notes.push_back("the rows are not in the order of their times: they were sorted");
  }
  std::vector<double> differences;
  for (size_t i = 0; i < windows.order.size(); ++i) {
    const int64_t row = windows.order[i];
    windows.time.push_back(times.of_row[static_cast<size_t>(row)]);
    if (i == 0 || series[static_cast<size_t>(windows.order[i - 1])] != series[static_cast<size_t>(row)])
      continue;
    const double difference = windows.time[i] - windows.time[i - 1];
    if (!(difference > 0))
      throw_bad_cell(
          table, row,
          fmt::format("expected one row for each time{}; received the time of data row {} again; {}",
                      options.group.empty() ? "" : " of a series", row_number(table, windows.order[i - 1]),
                      same_time_hint(options, fitted)));
    differences.push_back(difference);
  }
  const double latest =
      windows.time.empty()
          ? 0
          : std::abs(*std::ranges::max_element(windows.time, {}, [](double t) { return std::abs(t); }));
  const char* unit = windows.calendar ? " s" : "";
  const double common = common_step(differences, latest);
  windows.step = step.value_or(common);
  const auto is_step = [&](double difference) {
    return std::abs(difference - windows.step) <= tolerance(windows.step, latest);
  };
  check(!step || differences.empty() || std::ranges::any_of(differences, is_step), kWindows,
        fmt::format("rows in steps of {:g}{}, as in training", windows.step, unit),
        fmt::format("steps of {:g}{}", common, unit),
        "the model has learnt nothing of other steps: fit again");

  int64_t gaps = 0, runs = 0, too_short = 0;
  const int64_t n = std::ssize(windows.order);
  for (int64_t first = 0; first < n;) {
    int64_t end = first + 1;
    const auto same_series = [&](int64_t i) {
      return series[static_cast<size_t>(windows.order[static_cast<size_t>(i)])] ==
             series[static_cast<size_t>(windows.order[static_cast<size_t>(first)])];
    };
    const auto time = [&](int64_t i) { return windows.time[static_cast<size_t>(i)]; };
    while (end < n && same_series(end) && is_step(time(end) - time(end - 1))) ++end;
    if (end < n && same_series(end)) ++gaps;
    const int64_t length = end - first;
    ++runs;
    windows.longest = std::max(windows.longest, length);
    too_short += length < options.window;
    for (int64_t last = first + options.window - 1; last < end; ++last) {
      windows.last.push_back(last);
      windows.target.push_back(last + options.horizon < end ? last + options.horizon : -1);
    }
    first = end;
  }
  check_runs(windows, options, fitted);
  if (gaps > 0)
    windows.notes.push_back(fmt::format("{} in time (steps other than {:g}{}): no window reaches over {}",
                                        counted(gaps, "gap"), windows.step, unit, gaps == 1 ? "it" : "one"));
  if (too_short > 0)
    windows.notes.push_back(fmt::format("{} of {} without a gap {} shorter than a window of {}: left out",
                                        too_short, counted(runs, "run"), too_short == 1 ? "is" : "are",
                                        counted(options.window, "row")));
  return windows;
}

std::vector<int64_t> windows_with_target(const Table& table, const Windows& windows,
                                         const std::string& target) {
  const Column& column = column_of(table, target, "target");
  std::vector<int64_t> usable;
  for (int64_t i = 0; i < std::ssize(windows.last); ++i) {
    const int64_t at = windows.target[static_cast<size_t>(i)];
    if (at >= 0 && !std::isnan(cell_at(column, windows, at))) usable.push_back(i);
  }
  return usable;
}

SplitRows split_windows(const Windows& windows, const std::vector<int64_t>& usable,
                        const WindowOptions& options, const SplitOptions& split) {
  constexpr const char* kSplit = "split_windows";
  check(split.kind == "auto", kSplit, "the split auto, by time", in_quotes(split.kind),
        "windows overlap: a random split would show the test rows in training");
  const double shares[] = {split.valid_fraction, split.calibration_fraction, split.test_fraction};
  const double sum = shares[0] + shares[1] + shares[2];
  for (double share : shares)
    check(share >= 0 && share < 1, kSplit, "fractions from 0 to below 1", fmt::format("{}", share));
  check(sum < 1, kSplit, "fractions whose sum is below 1", fmt::format("{}", sum));

  check(!usable.empty(), kSplit, "windows whose target is in the table", "none",
        "lower --window or --horizon, or give more rows");
  std::vector<int64_t> order(usable.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> forecasts = windows.forecast_times(options);
  std::vector<double> times;  // forecast time of each usable window
  for (int64_t i : usable) times.push_back(forecasts[static_cast<size_t>(i)]);
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return times[static_cast<size_t>(i)]; });
  const double n = static_cast<double>(usable.size());
  // Where each part ends in `order`: training, validation, calibration, test.
  int64_t ends[4] = {0, 0, 0, std::ssize(usable)};
  for (int p = 2; p >= 0; --p)
    ends[p] = std::max<int64_t>(0, ends[p + 1] - static_cast<int64_t>(std::ceil(shares[p] * n - 1e-9)));
  SplitRows parts;
  std::vector<int64_t>* lists[] = {&parts.train, &parts.valid, &parts.calibration, &parts.test};
  const double gap = windows.step * static_cast<double>(options.window + options.horizon - 1) * (1 + kSame) +
                     tolerance(windows.step, times.empty() ? 0 : std::abs(times.back()));
  double reached = -HUGE_VAL;  // latest forecast time of the previous parts
  int64_t left_out = 0;
  for (int p = 0; p < 4; ++p) {
    const int64_t begin = p == 0 ? 0 : ends[p - 1];
    for (int64_t k = begin; k < ends[p]; ++k) {
      const int64_t i = order[static_cast<size_t>(k)];
      if (times[static_cast<size_t>(i)] - reached > gap)
        lists[p]->push_back(i);
      else
        ++left_out;
    }
    if (ends[p] > begin) reached = times[static_cast<size_t>(order[static_cast<size_t>(ends[p] - 1)])];
    check(ends[p] == begin || !lists[p]->empty(), kSplit,
          fmt::format("parts longer than a window and its horizon, of {} windows or more",
                      options.window + options.horizon),
          fmt::format("a part of {} of the {} (the longest run without a gap has {})", ends[p] - begin,
                      counted(std::ssize(usable), "window"), counted(windows.longest, "row")),
          "lower --window, raise the fractions, or give more rows");
    std::ranges::sort(*lists[p]);
  }
  check(!parts.train.empty(), kSplit, "windows to train on",
        fmt::format("none of {}", counted(std::ssize(usable), "window")), "lower --window or the fractions");
  if (left_out > 0)
    parts.notes.push_back(
        fmt::format("split by time, the last windows are tested; {} between two parts {} left out, "
                    "so that no row is "
                    "seen from both sides",
                    counted(left_out, "window"), left_out == 1 ? "is" : "are"));
  return parts;
}

}  // namespace slimbayes
