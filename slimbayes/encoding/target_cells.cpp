#include "slimbayes/encoding/target_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/looks.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

/// The number of different names in a column of categories, and of those that occur once.
struct NameCounts {
  int64_t different = 0, once = 0;
};

NameCounts count_names(const Column& column) {
  std::map<double, int64_t> cells;
  for (const double value : column.values)
    if (!std::isnan(value)) ++cells[value];
  const auto once = std::ranges::count_if(cells, [](const auto& item) { return item.second == 1; });
  return {std::ssize(cells), once};
}

/// Returns the end of an error message: the columns that can be a target, at most eight of them.
std::string possible_targets(const Table& table) {
  constexpr size_t kNamed = 8;
  std::vector<std::string> names;
  for (const Column& column : table.columns)
    if (column.kind != ColumnKind::datetime && !names_hardly_repeat(column) && !is_row_label(column.name))
      names.push_back(in_quotes(column.name));
  if (names.empty()) return "no other column of the table can be one";
  const size_t shown = std::min(names.size(), kNamed);
  return fmt::format("`.target` names the column to predict, here {}{}",
                     fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     shown < names.size() ? ", ..." : "");
}

}  // namespace

bool names_hardly_repeat(const Column& column) {
  constexpr int64_t kFewNames = 10;
  if (column.kind != ColumnKind::categorical) return false;
  const NameCounts names = count_names(column);
  return names.different > kFewNames && 2 * names.once >= names.different;
}

void check_target_column(const Table& table, const std::string& target) {
  const std::string name = in_quotes(target);
  if (target.empty())
    refuse("fit", "`.target=COLUMN`, the column to predict", "none",
           possible_targets(table) + "; only `.likelihood=cox` has none");
  const Column* column = table.find(target);
  if (column == nullptr)
    refuse("fit", fmt::format("a target column {}", name), "a table without it",
           nearest_hint(target, table.names()));
  if (column->kind == ColumnKind::datetime)
    refuse("fit", fmt::format("numbers, booleans or categories in the target {}", name), "a column of times",
           "times can be inputs, and `.time` orders a series by them; " + possible_targets(table));
  // Numbers in another notation and integers that a double rounds have errors of their own (class_task).
  if (meant_as(column->levels).as == "numbers" || !column->large.empty()) return;
  if (!names_hardly_repeat(*column)) return;
  const NameCounts names = count_names(*column);
  refuse("fit", fmt::format("names of classes in the target {}, each in several rows", name),
         fmt::format("{} different texts, {} of them once, as of an identifier or free text", names.different,
                     names.once),
         "a text is an input by `.text`; " + possible_targets(table));
}

const Column& target_column(const Table& table, const std::string& target) {
  const Column* column = table.find(target);
  if (column == nullptr)
    refuse("target", fmt::format("the target column {}", in_quotes(target)), "a table without it",
           nearest_hint(target, table.names()));
  return *column;
}

bool of_numbers(const Column& column) {
  return column.kind == ColumnKind::numeric || column.kind == ColumnKind::boolean;
}

double target_in(const Table& table, const Column& column, int64_t row) {
  double value = column.values[static_cast<size_t>(row)];
  if (std::isfinite(value)) return value;
  throw_bad_cell(table, row,
                 fmt::format("expected a {} in the target {}; received {}; remove the rows without a target",
                             of_numbers(column) ? "finite number" : "value", in_quotes(column.name),
                             std::isnan(value) ? std::string("a missing cell") : fmt::format("{}", value)));
}

double count_in(const Table& table, const Column& column, int64_t row) {
  double value = target_in(table, column, row);
  if (value >= 0 && value == std::floor(value) && value <= 1e15) return value;
  throw_bad_cell(
      table, row,
      fmt::format("expected counts, whole numbers from 0 to 1e15, in the target {}; received {}; correct the "
                  "cell, or fit any number by `.likelihood=gaussian`",
                  in_quotes(column.name), value));
}

std::optional<std::pair<double, double>> two_whole_numbers(const Column& column) {
  if (column.kind != ColumnKind::numeric) return std::nullopt;
  std::map<double, int64_t> cells;
  for (double value : column.values) {
    if (std::isnan(value)) continue;
    if (value != std::floor(value)) return std::nullopt;
    ++cells[value];
    if (cells.size() > 2) return std::nullopt;
  }
  if (cells.size() < 2 || cells.begin()->second < 2 || cells.rbegin()->second < 2) return std::nullopt;
  return std::pair{cells.begin()->first, cells.rbegin()->first};
}

}  // namespace slimbayes
