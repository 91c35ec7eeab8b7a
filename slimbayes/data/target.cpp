// Reads the target column and fits its task. The likelihood decides how cells are read: a column of numbers
// can hold measurements, counts or names of classes. The column's kind decides only if no likelihood is
// given.

#include "slimbayes/data/target.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/encoder.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/looks.h"

namespace slimbayes {

namespace {

constexpr size_t kMaxClasses = 1000;

const Column& target_column(const Table& table, const std::string& target) {
  const Column* column = table.find(target);
  check(column != nullptr, "target", fmt::format("the target column {}", in_quotes(target)),
        "a table without it", nearest_hint(target, table.names()));
  return *column;  // NOLINT(clang-analyzer-core.uninitialized.UndefReturn): check() has thrown
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

double count(const Table& table, const Column& column, int64_t row) {
  double value = target_in(table, column, row);
  if (value >= 0 && value == std::floor(value) && value <= 1e15) return value;
  throw_bad_cell(
      table, row,
      fmt::format("expected counts, whole numbers from 0 to 1e15, in the target {}; received {}; correct the "
                  "cell, or fit any number by --likelihood gaussian",
                  in_quotes(column.name), value));
}

/// Returns the two values of a column that holds two different whole numbers alone, each at least twice.
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

/// Returns the likelihood for a user who names none; nullopt for categories, whose number decides between
/// bernoulli and softmax.
std::optional<LikelihoodKind> likelihood_for(const Column& column) {
  if (two_whole_numbers(column)) return LikelihoodKind::bernoulli;
  if (column.kind == ColumnKind::numeric) return LikelihoodKind::gaussian;
  if (column.kind == ColumnKind::boolean) return LikelihoodKind::bernoulli;
  check(column.kind == ColumnKind::categorical, "target",
        fmt::format("numbers, booleans or categories in the target {}", in_quotes(column.name)),
        fmt::format("a {} column", kind_name(column.kind)));
  return std::nullopt;
}

/// Returns each class's name with its number of rows: {among all rows, among the training rows}.
std::map<std::string, std::pair<int64_t, int64_t>> class_sizes(const Table& table, const Column& column,
                                                               const std::vector<int64_t>& rows) {
  std::map<double, std::pair<int64_t, int64_t>> by_value;
  for (double value : column.values) {
    if (std::isfinite(value)) ++by_value[value].first;
  }
  for (int64_t row : rows) ++by_value[target_in(table, column, row)].second;
  std::map<std::string, std::pair<int64_t, int64_t>> sizes;
  for (const auto& [value, size] : by_value) sizes[cell_text(column, value)] = size;
  return sizes;
}

void check_classes(const Column& column, const std::map<std::string, std::pair<int64_t, int64_t>>& sizes) {
  const std::string name = in_quotes(column.name);
  for (const auto& [level, size] : sizes) {
    check(size.first > 1, "target", fmt::format("at least two rows of each class of {}", name),
          fmt::format("one row of class {}", in_quotes(level)),
          "remove that row, or join the class with another");
  }
  for (const auto& [level, size] : sizes) {
    check(size.second > 0, "target", fmt::format("a training row of each class of {}", name),
          fmt::format("none of class {}, which has {} rows in the table", in_quotes(level), size.first),
          fmt::format(
              "join the class with another, or give more of its rows{}",
              column.kind == ColumnKind::numeric ? "; --likelihood gaussian fits them as numbers" : ""));
  }
  check(sizes.size() >= 2, "target", fmt::format("at least two classes in {}", name),
        fmt::format("{}", sizes.size()), "there is nothing to predict");
  check(sizes.size() <= kMaxClasses, "target", fmt::format("at most {} classes in {}", kMaxClasses, name),
        fmt::format("{}", sizes.size()), "a column of measurements is a regression: --likelihood gaussian");
}

Task class_task(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                std::optional<LikelihoodKind> likelihood) {
  check(column.kind != ColumnKind::datetime, "target",
        fmt::format("numbers, booleans or categories in the target {}", in_quotes(column.name)),
        "a datetime column");
  check(meant_as(column.levels).as != "numbers", "target",
        fmt::format("numbers or names of classes in {}", in_quotes(column.name)),
        column.levels.empty() ? "none" : in_quotes(column.levels.front()), "write numbers as 13000.5");
  check(column.large.empty(), "target",
        fmt::format("classes in {} that are names, or numbers up to 2^53", in_quotes(column.name)),
        column.large,
        fmt::format("larger ones may be read as one: --categorical {}", in_quotes(column.name)));
  auto sizes = class_sizes(table, column, rows);
  check(likelihood != LikelihoodKind::bernoulli || sizes.size() == 2, "target",
        fmt::format("two classes in {} for --likelihood bernoulli", in_quotes(column.name)),
        fmt::format("{}", sizes.size()),
        column.kind == ColumnKind::numeric
            ? "--likelihood softmax takes any number; measurements are --likelihood gaussian"
            : "--likelihood softmax takes any number");
  auto alone = std::ranges::count_if(sizes, [](const auto& item) { return item.second.first == 1; });
  check(column.kind != ColumnKind::numeric || sizes.size() <= 10 || 2 * alone < std::ssize(sizes), "target",
        fmt::format("labels in {}, each with several rows", in_quotes(column.name)),
        fmt::format("{} numbers, {} of them once", sizes.size(), alone),
        "a column of measurements is a regression: --likelihood gaussian");
  check_classes(column, sizes);
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

/// Sets the shift, the scale and the sd of a regression. The predictive variance in the target's units is the
/// standardised variance times the squared scale. Within these bounds the square is a normal double, and
/// there is room for variances up to 1e28 times the training variance.
void standardise(const std::vector<double>& values, const std::string& target, std::string_view scale,
                 Task& task) {
  constexpr double kLeast = 1e-140, kMost = 1e140;
  const Moments m = moments(values);
  const auto [low, high] = std::ranges::minmax(values);
  const bool usable = low == high || (m.sd >= kLeast && m.sd <= kMost);
  check(usable, "target",
        fmt::format("a standard deviation of {} from {:g} to {:g}", in_quotes(target), kLeast, kMost),
        fmt::format("{:g} over the training rows", m.sd),
        "its square is no number of double precision: rescale the target, for instance divide it by its sd");
  task.low = low;
  task.y_shift = m.mean;
  (scale == "centred" ? task.encoded_sd : task.y_scale) = m.sd > 0 ? m.sd : 1;
}

}  // namespace

TaskKind task_kind(const Table& table, const std::string& target, std::optional<LikelihoodKind> likelihood) {
  const auto chosen = likelihood ? likelihood : likelihood_for(target_column(table, target));
  return chosen ? task_of(*chosen) : TaskKind::classification;
}

Task fit_task(const Table& table, const std::vector<int64_t>& rows, const std::string& target,
              std::optional<LikelihoodKind> likelihood, std::string_view scale) {
  const Column& column = target_column(table, target);
  const auto chosen = likelihood ? likelihood : likelihood_for(column);
  const TaskKind kind = task_kind(table, target, likelihood);
  check(scale == "standard" || scale == "centred", "target", "a scale 'standard' or 'centred'",
        in_quotes(std::string(scale)));
  check(kind == TaskKind::regression || scale == "standard", "target",
        fmt::format("numbers in the target {} for --target-scale {}", in_quotes(target), scale),
        name_of(kind),
        likelihood || column.kind != ColumnKind::numeric
            ? "leave --target-scale out"
            : "--likelihood gaussian fits two whole numbers as numbers; or leave --target-scale out");
  if (kind == TaskKind::classification) return class_task(table, column, rows, chosen);
  check(kind != TaskKind::events, "target", "no target for --likelihood cox, whose rows are events",
        in_quotes(target), "leave --target out");
  check(of_numbers(column), "target", fmt::format("numbers in the target {}", in_quotes(target)),
        fmt::format("a {} column", kind_name(column.kind)),
        fmt::format("--likelihood {} needs numbers", name_of(chosen.value())));
  std::vector<double> values;
  for (int64_t row : rows)
    values.push_back(kind == TaskKind::counts ? count(table, column, row) : target_in(table, column, row));
  Task task;
  task.kind = kind;
  task.likelihood = *chosen;
  if (kind == TaskKind::regression) {
    standardise(values, target, scale, task);
    check_standardised(table, target, task);
  }
  return task;
}

void check_standardised(const Table& table, const std::string& target, const Task& task) {
  if (task.kind != TaskKind::regression) return;
  constexpr double kMost = 1e18;
  const std::string unit = task.encoded_sd == 1 ? fmt::format(" training sds ({:g})", task.y_scale)
                                                : " (the target is not scaled)";
  const Column& column = target_column(table, target);
  for (int64_t row = 0; row < table.rows; ++row) {
    const double value = column.values[static_cast<size_t>(row)];
    if (std::isnan(value) || std::abs(value / task.y_scale - task.y_shift / task.y_scale) <= kMost) continue;
    throw_bad_cell(
        table, row,
        fmt::format("expected a target {} within {:g}{} of their mean {:g}; received {:g}; correct or remove "
                    "the row",
                    in_quotes(target), kMost, unit, task.y_shift, value));
  }
}

std::string two_classes_note(const Table& table, const std::string& target) {
  const auto values = two_whole_numbers(target_column(table, target));
  if (!values) return "";
  return fmt::format(
      "the target {} holds {} and {} alone, which are taken as two classes; --likelihood gaussian fits them "
      "as numbers",
      in_quotes(target), values->first, values->second);
}

std::string likelihood_hint(const Table& table, const std::string& target, const std::vector<int64_t>& rows) {
  constexpr double kSmallMean = 20;
  constexpr size_t kFewRows = 20;  // with fewer rows, counts cannot be recognised
  const Column& column = target_column(table, target);
  std::vector<double> values;
  for (int64_t row : rows) values.push_back(target_in(table, column, row));
  const std::set<double> different(values.begin(), values.end());
  const bool whole = std::ranges::all_of(different, [](double y) { return y >= 0 && y == std::floor(y); });
  if (!whole) return "";
  if (different.size() == 2 && values.size() > 2)
    return fmt::format(
        "the target {} holds {} and {} alone, one of them in a single row, and is fitted as a number: a "
        "class "
        "needs two rows",
        in_quotes(target), *different.begin(), *different.rbegin());
  if (values.size() < kFewRows) return "";
  const Moments m = moments(values);
  const auto up_to_mean = std::ranges::count_if(different, [&](double y) { return y <= m.mean; });
  const double possible = std::floor(m.mean) - *different.begin() + 1;
  const bool counts = different.size() >= 3 && *different.begin() <= 1 && m.mean <= kSmallMean &&
                      m.sd * m.sd >= m.mean / 2 && 2 * static_cast<double>(up_to_mean) >= possible;
  if (!counts) return "";
  return fmt::format(
      "the target {} holds whole numbers from {} to {} alone and is fitted by a Gaussian: if they are "
      "counts, "
      "--likelihood poisson; if they number classes, softmax",
      in_quotes(target), *different.begin(), *different.rbegin());
}

Table with_target(Table table, const std::string& target) {
  const Column* column = table.find(target);
  if (column == nullptr) return table;
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < table.rows; ++row) {
    if (!std::isnan(column->values[static_cast<size_t>(row)])) rows.push_back(row);
  }
  check(!rows.empty(), "target", fmt::format("rows with a value in the target {}", in_quotes(target)),
        fmt::format("{} without one", counted(table.rows, "row")), "check the column's name");
  if (std::ssize(rows) == table.rows) return table;  // a move; a conditional expression would copy the table
  return take_rows(table, rows);
}

at::Tensor target_values(const Table& table, const std::string& target, const Task& task) {
  const Column& column = target_column(table, target);
  bool classes = task.kind == TaskKind::classification;
  check(classes || of_numbers(column), "target", fmt::format("numbers in the target {}", in_quotes(target)),
        fmt::format("a {} column", kind_name(column.kind)),
        fmt::format("{} needs numbers", name_of(task.kind)));
  std::vector<int64_t> slots;  // of each of the column's levels the class number; -1: a new class
  for (const std::string& level : column.levels) {
    auto found = std::ranges::find(task.levels, level);
    slots.push_back(found == task.levels.end() ? -1 : found - task.levels.begin());
  }
  check(!classes || !slots.empty() || tells_apart(task.levels, column.kind), "target",
        fmt::format("text in the target {}, where different classes read as one {} value",
                    in_quotes(column.name), kind_name(column.kind)),
        fmt::format("a {} column", kind_name(column.kind)), "read the table as the model's reading() says");
  at::Tensor y = at::empty({table.rows}, at::kDouble);
  double* out = y.data_ptr<double>();
  for (int64_t row = 0; row < table.rows; ++row) {
    double value = task.kind == TaskKind::counts ? count(table, column, row) : target_in(table, column, row);
    if (classes) {
      int64_t slot =
          slots.empty() ? level_like(task.levels, column.kind, value) : slots[static_cast<size_t>(value)];
      if (slot < 0) {
        throw_bad_cell(table, row,
                       fmt::format("expected a class of the training rows in the target {}; received {}; {}; "
                                   "correct the cell or remove the row",
                                   in_quotes(target), in_quotes(cell_text(column, value)),
                                   nearest_hint(cell_text(column, value), task.levels)));
      }
      out[row] = static_cast<double>(slot);
    } else {
      out[row] = (value - task.y_shift) / task.y_scale;
    }
  }
  return y;
}

}  // namespace slimbayes
