#include "slimbayes/model/conditional/column_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "slimbayes/answers/conditional/quantile_bins.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {

namespace {

constexpr size_t kMostValues = 20;
constexpr int64_t kColumnBins = 5;

/// Returns the texts of the ends of bins: short ones if they differ.
std::vector<std::string> texts_of_ends(const Column& column, const std::vector<double>& ends) {
  std::vector<std::string> texts;
  const bool times = column.kind == ColumnKind::datetime;
  for (const double end : ends) texts.push_back(times ? cell_text(column, end) : fmt::format("{:.6g}", end));
  if (times || std::ranges::adjacent_find(texts) == texts.end()) return texts;
  for (size_t i = 0; i < ends.size(); ++i) texts[i] = cell_text(column, ends[i]);
  return texts;
}

RowGrouping groups_of_bins(const Column& column) {
  std::vector<double> cells;
  for (const double cell : column.values)
    if (!std::isnan(cell)) cells.push_back(cell);
  const QuantileBins bins = quantile_bins(cells, kColumnBins);
  const std::vector<std::string> ends = texts_of_ends(column, bins.ends);
  RowGrouping groups;
  for (int64_t i = 0; i < bins.count(); ++i)
    groups.names.push_back(fmt::format("[{}, {}{}", ends[static_cast<size_t>(i)],
                                       ends[static_cast<size_t>(i) + 1], i + 1 == bins.count() ? "]" : ")"));
  const auto missing = static_cast<int64_t>(groups.names.size());
  size_t next = 0;
  for (const double cell : column.values) groups.of.push_back(std::isnan(cell) ? missing : bins.of[next++]);
  if (cells.size() < column.values.size()) groups.names.emplace_back("(missing)");
  return groups;
}

/// Returns a group for each different value.
RowGrouping groups_of_values(const Column& column, bool by_text) {
  std::map<double, int64_t> group;  // by value
  for (const double cell : column.values)
    if (!std::isnan(cell)) group[cell] = 0;
  std::vector<std::pair<std::string, double>> values;
  for (const auto& [value, unset] : group) values.emplace_back(cell_text(column, value), value);
  if (by_text) std::ranges::sort(values);
  RowGrouping groups;
  for (const auto& [text, value] : values) {
    group[value] = static_cast<int64_t>(groups.names.size());
    groups.names.push_back(text);
  }
  const auto missing = static_cast<int64_t>(groups.names.size());
  for (const double cell : column.values) groups.of.push_back(std::isnan(cell) ? missing : group.at(cell));
  if (std::ranges::find(groups.of, missing) != groups.of.end()) groups.names.emplace_back("(missing)");
  return groups;
}

}  // namespace

RowGrouping groups_of_column(const Column& column) {
  if (column.kind == ColumnKind::categorical || column.kind == ColumnKind::boolean)
    return groups_of_values(column, /*by_text=*/true);
  std::vector<double> different;
  for (const double cell : column.values)
    if (!std::isnan(cell)) different.push_back(cell);
  std::ranges::sort(different);
  different.erase(std::ranges::unique(different).begin(), different.end());
  return different.size() > kMostValues ? groups_of_bins(column) : groups_of_values(column, false);
}

Table scored_rows(const Examples& examples) {
  if (const auto* table = std::get_if<Table>(&examples)) return *table;
  if (const auto* windows = std::get_if<WindowTable>(&examples)) return target_rows(*windows);
  refuse("evaluate", "rows of a table for `.by`", "images, which have no columns", "leave it out");
}

}  // namespace slimbayes
