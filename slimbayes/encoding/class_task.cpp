// Fits the task of a target whose values are classes.
#include "slimbayes/encoding/class_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/looks.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/encoding/column_statistics.h"
#include "slimbayes/encoding/target_cells.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

constexpr size_t kMaxClasses = 1000;

/// The sizes of the classes, by the name of the class: {number of rows in the table, number of training
/// rows}.
using ClassSizes = std::map<std::string, std::pair<int64_t, int64_t>>;

ClassSizes class_sizes(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                       const ColumnStatistics* all) {
  std::map<double, std::pair<int64_t, int64_t>> by_value;
  for (double value : column.values) {
    if (std::isfinite(value)) ++by_value[value].first;
  }
  for (int64_t row : rows) ++by_value[target_in(table, column, row)].second;
  // Of a sample: the levels of the column are those of all rows, and so are the counts.
  for (size_t i = 0; all != nullptr && i < all->counts.size(); ++i) {
    auto& [rows_of_table, rows_of_training] = by_value[static_cast<double>(i)];
    rows_of_table = std::max(rows_of_table, all->counts[i]);
    rows_of_training = all->counts[i];
  }
  if (all != nullptr)
    for (const auto& [value, count] : all->numbers) {
      auto& [rows_of_table, rows_of_training] = by_value[value];
      rows_of_table = std::max(rows_of_table, count);
      rows_of_training = count;
    }
  ClassSizes sizes;
  for (const auto& [value, size] : by_value) sizes[cell_text(column, value)] = size;
  return sizes;
}

void check_class_sizes(const Column& column, const ClassSizes& sizes) {
  const std::string name = in_quotes(column.name);
  for (const auto& [level, size] : sizes) {
    if (!(size.first > 1))
      refuse("target", fmt::format("at least two rows of each class of {}", name),
             fmt::format("one row of class {}", in_quotes(level)),
             "remove that row, or join the class with another");
  }
  for (const auto& [level, size] : sizes) {
    if (!(size.second > 0))
      refuse("target", fmt::format("a training row of each class of {}", name),
             fmt::format("none of class {}, which has {} rows in the table", in_quotes(level), size.first),
             fmt::format(
                 "join the class with another, or give more of its rows{}",
                 column.kind == ColumnKind::numeric ? "; `.likelihood=gaussian` fits them as numbers" : ""));
  }
  if (!(sizes.size() >= 2))
    refuse("target", fmt::format("at least two classes in {}", name), fmt::format("{}", sizes.size()),
           "there is nothing to predict");
  if (!(sizes.size() <= kMaxClasses))
    refuse("target", fmt::format("at most {} classes in {}", kMaxClasses, name),
           fmt::format("{}", sizes.size()),
           column.kind == ColumnKind::categorical
               ? "join rare classes, or name another column by `.target`"
               : "a column of measurements is a regression: `.likelihood=gaussian`");
}

void check_class_column(const Column& column) {
  if (column.kind == ColumnKind::datetime)
    refuse("target", fmt::format("numbers, booleans or categories in the target {}", in_quotes(column.name)),
           "a datetime column");
  if (meant_as(column.levels).as == "numbers") {
    const std::string advice = notation_advice(column.levels);
    refuse("target", fmt::format("numbers or names of classes in {}", in_quotes(column.name)),
           column.levels.empty() ? "none" : in_quotes(column.levels.front()),
           fmt::format("write numbers as 13000.5{}{}", advice.empty() ? "" : "; ", advice));
  }
  if (!column.large.empty())
    refuse("target",
           fmt::format("classes in {} that are names, or numbers up to 2^53", in_quotes(column.name)),
           column.large,
           fmt::format("larger ones may be read as one: `.categorical` {}", in_quotes(column.name)));
}

}  // namespace

Task class_task(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                std::optional<LikelihoodKind> likelihood, const ColumnStatistics* all) {
  check_class_column(column);
  auto sizes = class_sizes(table, column, rows, all);
  if (likelihood == LikelihoodKind::bernoulli && sizes.size() != 2)
    refuse("target", fmt::format("two classes in {} for `.likelihood=bernoulli`", in_quotes(column.name)),
           fmt::format("{}", sizes.size()),
           column.kind == ColumnKind::numeric
               ? "`.likelihood=softmax` takes any number; measurements are `.likelihood=gaussian`"
               : "`.likelihood=softmax` takes any number");
  auto alone = std::ranges::count_if(sizes, [](const auto& item) { return item.second.first == 1; });
  if (!(column.kind != ColumnKind::numeric || sizes.size() <= 10 || 2 * alone < std::ssize(sizes)))
    refuse("target", fmt::format("labels in {}, each with several rows", in_quotes(column.name)),
           fmt::format("{} numbers, {} of them once", sizes.size(), alone),
           "a column of measurements is a regression: `.likelihood=gaussian`");
  check_class_sizes(column, sizes);
  Task task;
  for (const auto& item : sizes) task.levels.push_back(item.first);
  if (column.kind == ColumnKind::numeric)
    std::ranges::sort(task.levels, {},
                      [](const std::string& level) { return parse_number(level).value_or(NAN); });
  task.kind = TaskKind::classification;
  task.likelihood =
      likelihood.value_or(sizes.size() == 2 ? LikelihoodKind::bernoulli : LikelihoodKind::softmax);
  task.outputs = task.likelihood == LikelihoodKind::softmax ? static_cast<int64_t>(sizes.size()) : 1;
  return task;
}

}  // namespace slimbayes
