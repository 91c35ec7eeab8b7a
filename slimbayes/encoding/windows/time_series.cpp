// Sorts the rows of a table by series and time, and finds the step between successive rows.
#include "slimbayes/encoding/windows/time_series.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/notes/column_notes.h"
#include "slimbayes/encoding/windows/time_parts.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

constexpr const char* kSeries = "windows";

const Column& column_of(const Table& table, const std::string& name, const char* what) {
  const Column* column = table.find(name);
  if (column == nullptr)
    refuse(kSeries, fmt::format("a {} column {}", what, in_quotes(name)), "a table without it",
           nearest_hint(name, table.names()));
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

/// Returns the time of each row in seconds since 1970, from the columns of its parts (TimeParts). Throws
/// DataError for a value out of range and for a day that its month does not have.
std::vector<double> composed_times(const Table& table, const std::vector<std::string>& names) {
  const TimeParts parts(names);
  std::vector<const Column*> columns;
  for (const std::string& name : names) {
    columns.push_back(&column_of(table, name, "time"));
    if (columns.back()->kind != ColumnKind::numeric)
      refuse(kSeries, fmt::format("numbers in {}", in_quotes(name)),
             fmt::format("a {} column", kind_name(columns.back()->kind)));
  }
  std::vector<double> times, cells(columns.size());
  times.reserve(static_cast<size_t>(table.rows));
  for (int64_t row = 0; row < table.rows; ++row) {
    for (size_t i = 0; i < columns.size(); ++i) cells[i] = time_in(table, *columns[i], row);
    const RowTime time = parts.of(cells);
    if (!time.fault.empty()) throw_bad_cell(table, row, time.fault);
    times.push_back(time.seconds);
  }
  return times;
}

/// Returns the advice for a time column that cannot be read. If a model is already fitted, the advice names
/// no command-line flags, because prediction has none for times.
const char* times_hint(bool fitted) {
  return fitted ? "write the times as in training"
                : "in a text file, fit `.date_format` names their format, such as '%d.%m.%Y'; else convert "
                  "them, "
                  "for instance by pandas.to_datetime, or give the year, month and day as columns of "
                  "numbers: `.time=year,month,day`";
}

/// Returns the number of the series of each row, [n]. Rows with equal values in every group column are one
/// series.
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

/// The time difference `by` of two successive rows of a series, and the later of their times, `at`.
struct Difference {
  double by, at;

  bool is(double step) const { return std::abs(by - step) <= time_tolerance(step, at); }
};

/// Returns the most frequent difference; the smallest of them if several are equally frequent; 1 if there is
/// none.
double common_step(std::vector<Difference> differences) {
  std::ranges::sort(differences, {}, &Difference::by);
  double best = 1;
  int64_t most = 0;
  for (size_t i = 0; i < differences.size();) {
    size_t j = i;
    while (j < differences.size() &&
           differences[j].by <= differences[i].by + time_tolerance(differences[i].by, differences[i].at))
      ++j;
    if (static_cast<int64_t>(j - i) > most) {
      most = static_cast<int64_t>(j - i);
      best = differences[i + (j - i) / 2].by;  // the middle of those that are equal within rounding
    }
    i = j;
  }
  return best;
}

std::string same_time_hint(const WindowOptions& options, bool fitted) {
  if (!fitted) return "average them, remove one, or name the column that tells them apart by `.group`";
  return fmt::format("average them, or remove one: the model {}",
                     options.group.empty()
                         ? "was fitted on a single series"
                         : fmt::format("tells series apart by {} alone",
                                       foreign_text(fmt::format("{}", fmt::join(options.group, ", ")))));
}

/// Throws std::invalid_argument if the times are so large that rounding hides the difference between one step
/// and two. The median time is tested.
void check_resolution(std::vector<double> times, double step) {
  if (times.empty()) return;
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::ranges::nth_element(times, middle);
  if (!(time_tolerance(step, *middle) < step))
    refuse(kSeries, fmt::format("times that tell one step of {:g} from two", step),
           fmt::format("times such as {:g}, which are rounded to steps of about {:g}", *middle,
                       std::numeric_limits<double>::epsilon() * std::abs(*middle)),
           "count the times from the first one");
}

/// Sets series.time from the time of each row of the table (`of_row`), and returns the time differences of
/// successive rows of the same series. Throws DataError for two rows of one series with the same time.
std::vector<Difference> timed(TimeSeries& series, const Table& table, const std::vector<double>& of_row,
                              const WindowOptions& options) {
  std::vector<Difference> differences;
  for (size_t i = 0; i < series.order.size(); ++i) {
    const int64_t row = series.order[i];
    series.time.push_back(of_row[static_cast<size_t>(row)]);
    if (i == 0 || series.number[i - 1] != series.number[i]) continue;
    const double difference = series.time[i] - series.time[i - 1];
    if (!(difference > 0))
      throw_bad_cell(
          table, row,
          fmt::format("expected one row for each time{}; received the time of {} again; {}",
                      options.group.empty() ? "" : " of a series", row_place(table, series.order[i - 1]),
                      same_time_hint(options, series.fitted)));
    differences.push_back({difference, series.time[i]});
  }
  return differences;
}

/// Returns whether the rows of each series were in the order of their times. Those of several series may
/// alternate.
bool in_order(const TimeSeries& series) {
  for (size_t i = 1; i < series.order.size(); ++i)
    if (series.number[i - 1] == series.number[i] && series.order[i - 1] > series.order[i]) return false;
  return true;
}

}  // namespace

TimesOfRows times_of_rows(const Table& table, const std::vector<std::string>& columns, bool fitted) {
  check(!columns.empty(), kSeries, "a column of times for `.window`", "none",
        "name it by `.time`, for instance `.time=date` or `.time=year,month,day,hour`");
  if (columns.size() > 1) return {composed_times(table, columns), true};
  const Column& column = column_of(table, columns[0], "time");
  const bool calendar = column.kind == ColumnKind::datetime;
  const std::string first =
      column.levels.empty() ? "" : fmt::format(" ({}, ...)", in_quotes(column.levels[0]));
  if (!calendar && column.kind != ColumnKind::numeric)
    refuse(kSeries,
           fmt::format("ISO 8601 times (2014-12-31 or 2014-12-31T23:00:00) or numbers in {}",
                       in_quotes(column.name)),
           fmt::format("a {} column{}", kind_name(column.kind), first), times_hint(fitted));
  TimesOfRows times{{}, calendar};
  for (int64_t row = 0; row < table.rows; ++row) times.of_row.push_back(time_in(table, column, row));
  return times;
}

double time_tolerance(double difference, double time) {
  // Two differences involve four times, and each time is rounded by at most half an epsilon of its size.
  return kSameTime * difference + 2 * std::numeric_limits<double>::epsilon() * std::abs(time);
}

bool TimeSeries::follows(int64_t place) const {
  if (place == 0) return false;
  const auto at = static_cast<size_t>(place);
  return number[at] == number[at - 1] && Difference{time[at] - time[at - 1], time[at]}.is(step);
}

bool TimeSeries::is_inserted(int64_t place) const {
  return order[static_cast<size_t>(place)] >= std::ssize(order) - inserted;
}

TimeSeries find_series(const Table& table, const WindowOptions& options, std::optional<double> step) {
  for (const auto& [size, name] : {std::pair{options.window, "`.window`"}, {options.horizon, "`.horizon`"}})
    if (!(size >= 1 && size <= kLongestWindow))
      refuse(kSeries, fmt::format("{} from 1 to {}", name, kLongestWindow), fmt::format("{}", size));
  TimeSeries series;
  series.fitted = step.has_value();
  const TimesOfRows times = times_of_rows(table, options.time, series.fitted);
  series.calendar = times.calendar;
  const std::vector<int64_t> numbers = series_of(table, options.group);
  const auto key = [&](int64_t row) {
    return std::pair{numbers[static_cast<size_t>(row)], times.of_row[static_cast<size_t>(row)]};
  };
  series.order.resize(static_cast<size_t>(table.rows));
  std::iota(series.order.begin(), series.order.end(), 0);
  if (!std::ranges::is_sorted(series.order, {}, key)) std::ranges::stable_sort(series.order, {}, key);
  for (const int64_t row : series.order) series.number.push_back(numbers[static_cast<size_t>(row)]);
  if (!in_order(series))
    series.notes.push_back("the rows are not in the order of their times: they were sorted");
  const std::vector<Difference> differences = timed(series, table, times.of_row, options);
  const double common = common_step(differences);
  series.step = step.value_or(common);
  const auto is_step = [&](const Difference& difference) { return difference.is(series.step); };
  const char* unit = series.calendar ? " s" : "";
  if (step && !differences.empty() && !std::ranges::any_of(differences, is_step))
    refuse(kSeries, fmt::format("rows in steps of {:g}{}, as in training", series.step, unit),
           fmt::format("steps of {:g}{}", common, unit),
           "the model has learnt nothing of other steps: fit again");
  if (!differences.empty()) check_resolution(series.time, series.step);
  if (options.time.size() == 1) series.notes.push_back(mixed_offsets_note(*table.find(options.time[0])));
  std::erase(series.notes, "");
  return series;
}

}  // namespace slimbayes
