#include "slimbayes/serve/forecast_columns.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "slimbayes/data/table/cell.h"

namespace slimbayes {

namespace {

constexpr const char *kLastTime = "last_time", *kForecastTime = "forecast_time", *kActual = "actual";

/// Returns a column of times: dates if the windows have calendar times, else numbers. If the time column of
/// the windows' table gives offsets from UTC, this column is marked as UTC too (Column::offsets).
Column time_column(const char* name, const WindowTable& w, std::vector<double> times) {
  const WindowOptions& options = w.windows->options;
  const Column* given = options.time.size() == 1 ? w.table->find(options.time[0]) : nullptr;
  Column column{name, w.windows->calendar ? ColumnKind::datetime : ColumnKind::numeric, std::move(times), {}};
  column.offsets = given != nullptr && given->offsets;
  return column;
}

/// Returns the name of the class in a cell of the target column. The name is taken from `names`, the model's
/// classes, because a table may spell the same boolean or number differently. If the model does not know the
/// class, returns the cell's text.
std::string class_text(const Column& column, double value, const std::vector<std::string>& names) {
  const int64_t known = column.kind == ColumnKind::categorical ? -1 : level_like(names, column.kind, value);
  return known < 0 ? cell_text(column, value) : names[static_cast<size_t>(known)];
}

/// Returns the column "actual": the target of the row that each window predicts, missing where the table does
/// not have it. Returns nothing if the table has it for no window.
std::optional<Column> actual_column(const WindowTable& w, const std::string& target, const Task& task) {
  const Column& given = *w.table->find(target);
  const bool classes = task.kind == TaskKind::classification;
  Column column{kActual, classes ? ColumnKind::categorical : given.kind, {}, {}};
  for (const int64_t i : w.selected) {
    const int64_t place = w.windows->target[static_cast<size_t>(i)];
    double cell = kMissing;
    if (place >= 0) cell = given.values[static_cast<size_t>(w.windows->order[static_cast<size_t>(place)])];
    if (classes && !std::isnan(cell)) {
      const std::string text = class_text(given, cell, task.levels);
      const auto found = std::ranges::find(column.levels, text);
      cell = static_cast<double>(found - column.levels.begin());
      if (found == column.levels.end()) column.levels.push_back(text);
    }
    column.values.push_back(cell);
  }
  const auto missing = [](double x) { return std::isnan(x); };
  if (std::ranges::all_of(column.values, missing)) return std::nullopt;
  return column;
}

}  // namespace

Column last_time(const WindowTable& w) {
  std::vector<double> times;
  for (const int64_t i : w.selected)
    times.push_back(w.windows->time[static_cast<size_t>(w.windows->last[static_cast<size_t>(i)])]);
  return time_column(kLastTime, w, std::move(times));
}

std::vector<Column> forecast_columns(const WindowTable& w, const Table& last, const std::string& target,
                                     const Task& task) {
  const WindowOptions& options = w.windows->options;
  std::vector<Column> columns;
  for (const std::string& name : options.group) columns.push_back(*last.find(name));
  const std::vector<double> all = w.windows->forecast_times(options);
  std::vector<double> times;
  for (const int64_t i : w.selected) times.push_back(all[static_cast<size_t>(i)]);
  columns.push_back(time_column(kForecastTime, w, std::move(times)));
  if (auto actual = actual_column(w, target, task)) columns.push_back(std::move(*actual));
  return columns;
}

bool is_forecast_name(const std::string& name) {
  return name == kLastTime || name == kForecastTime || name == kActual;
}

}  // namespace slimbayes
