// Inserts rows without inputs into the gaps of a time series, so that windows can reach over them, and
// carries the last known inputs forward into the missing cells. A network then sees the old value, and the
// encoder's indicator says that it was missing. Imputing the training mean instead would make the inputs jump
// wherever the series is far from its mean.
#include "slimbayes/encoding/windows/gaps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/kept.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

constexpr int64_t kMostPerRow = 10;  // most inserted rows per row of the table

int64_t missing_in(const std::vector<Gap>& gaps) {
  int64_t missing = 0;
  for (const Gap& gap : gaps) missing += gap.missing;
  return missing;
}

/// Returns how many rows are missing in the gap that ends at this place (an index into TimeSeries::order); 0
/// if the gap cannot be filled.
int64_t missing_before(const TimeSeries& series, int64_t place, int64_t window) {
  const auto at = static_cast<size_t>(place);
  const double difference = series.time[at] - series.time[at - 1];
  const double steps = std::round(difference / series.step);
  const double tolerance = steps * time_tolerance(series.step, series.time[at]);
  const bool whole = std::abs(difference - steps * series.step) <= tolerance;
  return whole && steps >= 2 && steps <= static_cast<double>(window) ? static_cast<int64_t>(steps) - 1 : 0;
}

/// Appends one row to the table for each index in `like`. In the columns `kept` it has the cell of that row;
/// its other cells are missing.
void append_steps(Table& table, const std::vector<int64_t>& like, const std::vector<std::string>& kept) {
  if (table.numbers.empty()) {
    for (int64_t row = 0; row < table.rows; ++row) table.numbers.push_back(row);
  }
  for (const int64_t row : like) table.numbers.push_back(table.numbers[static_cast<size_t>(row)]);
  for (Column& column : table.columns) {
    const bool copied = std::ranges::find(kept, column.name) != kept.end();
    for (const int64_t row : like)
      column.values.push_back(copied ? column.values[static_cast<size_t>(row)] : kMissing);
    if (column.kept != nullptr) column.kept = extended(column.kept, like, copied);
  }
  table.rows += std::ssize(like);
}

std::string time_text(const Table& table, const TimeSeries& series, const WindowOptions& options,
                      size_t place) {
  if (!series.calendar) return fmt::format("{}", series.time[place]);
  const Column* column = options.time.size() == 1 ? table.find(options.time[0]) : nullptr;
  return column != nullptr && column->offsets ? format_utc(series.time[place])
                                              : format_datetime(series.time[place]);
}

}  // namespace

std::vector<Gap> gaps_of(const TimeSeries& series, int64_t window) {
  std::vector<Gap> gaps;
  for (int64_t place = 1; place < std::ssize(series.order); ++place) {
    const auto at = static_cast<size_t>(place);
    if (series.number[at] == series.number[at - 1] && !series.follows(place))
      gaps.push_back({place, missing_before(series, place, window)});
  }
  if (missing_in(gaps) > kMostPerRow * std::ssize(series.order)) {
    for (Gap& gap : gaps) gap.missing = 0;
  }
  return gaps;
}

TimeSeries with_steps(const TimeSeries& series, const std::vector<Gap>& gaps) {
  TimeSeries filled = series;
  filled.order.clear(), filled.time.clear(), filled.number.clear();
  const int64_t rows = std::ssize(series.order);
  auto gap = gaps.begin();
  for (int64_t place = 0; place < rows; ++place) {
    const auto at = static_cast<size_t>(place);
    if (gap != gaps.end() && gap->place == place) {
      const double from = series.time[at - 1], steps = static_cast<double>(gap->missing + 1);
      for (int64_t k = 1; k <= gap->missing; ++k) {
        filled.order.push_back(rows + filled.inserted++);
        filled.time.push_back(from + (series.time[at] - from) * static_cast<double>(k) / steps);
        filled.number.push_back(series.number[at]);
      }
      ++gap;
    }
    filled.order.push_back(series.order[at]);
    filled.time.push_back(series.time[at]);
    filled.number.push_back(series.number[at]);
  }
  return filled;
}

void fill_gaps(Table& table, TimeSeries& series, const WindowOptions& options) {
  check(series.inserted == 0, "fill_gaps", "a series without inserted rows", "one whose gaps are filled");
  std::vector<Gap> gaps = gaps_of(series, options.window);
  std::erase_if(gaps, [](const Gap& gap) { return gap.missing == 0; });
  if (gaps.empty()) return;
  std::vector<int64_t> like;
  for (const Gap& gap : gaps)
    like.insert(like.end(), static_cast<size_t>(gap.missing),
                series.order[static_cast<size_t>(gap.place) - 1]);
  series.notes.push_back(fmt::format(
      "{} inserted at {} in time ({}): missing inputs are carried forward from the last known ones, and the "
      "missing targets are neither trained on nor scored",
      counted(std::ssize(like), "row"), counted(std::ssize(gaps), "gap"),
      where_text(table, series, options, gaps)));
  TimeSeries filled = with_steps(series, gaps);
  append_steps(table, like, options.group);
  series = std::move(filled);
}

Table carried(const Table& table, const TimeSeries& series, const std::vector<std::string>& columns) {
  Table out = table;
  for (Column& column : out.columns) {
    if (std::ranges::find(columns, column.name) == columns.end()) continue;
    for (int64_t place = 0; place < std::ssize(series.order); ++place) {
      double& cell = column.values[static_cast<size_t>(series.order[static_cast<size_t>(place)])];
      if (!std::isnan(cell) || !series.follows(place)) continue;
      cell = column.values[static_cast<size_t>(series.order[static_cast<size_t>(place) - 1])];
    }
  }
  return out;
}

std::string where_text(const Table& table, const TimeSeries& series, const WindowOptions& options,
                       const std::vector<Gap>& gaps) {
  const auto before = [](const Gap& gap) { return static_cast<size_t>(gap.place) - 1; };
  const auto first = std::ranges::min_element(gaps, {}, [&](const Gap& g) { return series.time[before(g)]; });
  std::string text = fmt::format("{} after {}", gaps.size() == 1 ? "it is" : "the first is",
                                 time_text(table, series, options, before(*first)));
  if (options.group.empty()) return text;
  std::map<int64_t, int64_t> counts;
  for (const Gap& gap : gaps) ++counts[series.number[before(gap)]];
  const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  const auto in_it = [&](const Gap& gap) { return series.number[before(gap)] == most->first; };
  const auto row = static_cast<size_t>(series.order[before(*std::ranges::find_if(gaps, in_it))]);
  std::vector<std::string> names;
  for (const std::string& name : options.group) {
    const Column& column = *table.find(name);
    const double cell = column.values[row];
    names.push_back(fmt::format("{} {}", foreign_text(name),
                                std::isnan(cell) ? "(missing)" : in_quotes(cell_text(column, cell))));
  }
  return text +
         fmt::format(", {} in {}{}", counts.size() == 1 ? (gaps.size() == 1 ? "and" : "all are") : "most are",
                     fmt::join(names, ", "), counts.size() == 1 ? "" : fmt::format(" ({})", most->second));
}

}  // namespace slimbayes
