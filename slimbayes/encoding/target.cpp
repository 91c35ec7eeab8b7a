// Reads the target column and fits its task. The likelihood decides how the cells are read, because a column
// of numbers can hold measurements, counts or names of classes. If no likelihood is given, the kind of the
// column decides.

#include "slimbayes/encoding/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/bits.h"
#include "slimbayes/encoding/class_task.h"
#include "slimbayes/encoding/column_statistics.h"
#include "slimbayes/encoding/target_bounds.h"
#include "slimbayes/encoding/target_cells.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

/// Returns what two_whole_numbers() asks, of numbers and how often each occurs.
bool has_two_whole_numbers(const std::map<double, int64_t>& numbers) {
  return numbers.size() == 2 && std::ranges::all_of(numbers, [](const auto& one) {
           return one.first == std::floor(one.first) && one.second > 1;
         });
}

/// Returns the likelihood of a column for which the user gives none. Returns nullopt for a column of
/// categories: class_task then chooses bernoulli or softmax by their number. Throws std::invalid_argument for
/// times.
std::optional<LikelihoodKind> likelihood_for(const Column& column, const ColumnStatistics* all = nullptr) {
  const bool of_all = all != nullptr && column.kind == ColumnKind::numeric;
  if (of_all ? has_two_whole_numbers(all->numbers) : two_whole_numbers(column).has_value())
    return LikelihoodKind::bernoulli;
  if (column.kind == ColumnKind::numeric) return LikelihoodKind::gaussian;
  if (column.kind == ColumnKind::boolean) return LikelihoodKind::bernoulli;
  if (column.kind != ColumnKind::categorical)
    refuse("target", fmt::format("numbers, booleans or categories in the target {}", in_quotes(column.name)),
           fmt::format("a {} column", kind_name(column.kind)));
  return std::nullopt;
}

/// Sets the shift and scale of a regression and its encoded_sd, from the statistics of the
/// training targets. The sd must lie between kLeast and kMost: the predictive variance in the user's units is
/// the standardised variance times the squared scale. Within these bounds the squared scale is a normal
/// double, with room for variances up to 1e28 times the training variance.
void standardise(const ColumnStatistics& own, const TargetOptions& options, Task& task) {
  constexpr double kLeast = 1e-140, kMost = 1e140;
  const Moments& m = own.moments;
  const bool usable = own.low == own.high || (m.sd >= kLeast && m.sd <= kMost);
  if (!usable)
    refuse(
        "target",
        fmt::format("a standard deviation of {} from {:g} to {:g}", in_quotes(options.name), kLeast, kMost),
        fmt::format("{:g} over the training rows", m.sd),
        "its square is no number of double precision: rescale the target, for instance divide it by its sd");
  task.y_shift = m.mean;
  (options.scale == "centred" ? task.encoded_sd : task.y_scale) = m.sd > 0 ? m.sd : 1;
}

/// Sets what a regression learns from its training targets.
void fit_numbers(const Table& table, const std::vector<int64_t>& rows, const TargetOptions& options,
                 const ColumnStatistics* all, Task& task) {
  const Column& column = target_column(table, options.name);
  const ColumnStatistics own = all != nullptr ? *all : column_statistics(column, rows, options.weights);
  task.low = own.low;
  if (options.bounds) {
    check_training_within(table, column, rows, *options.bounds);
    if (all != nullptr) check_range_within(*all, options.name, *options.bounds);
    task.bounds = options.bounds;
    task.bounded_sd = own.moments.sd > 0 ? own.moments.sd : 1;
    standardise(column_statistics(unbounded_column(column, *options.bounds), rows, options.weights), options,
                task);
  } else {
    standardise(own, options, task);
  }
  check_standardised(table, options.name, task);
}

}  // namespace

TaskKind task_kind(const Table& table, const std::string& target, std::optional<LikelihoodKind> likelihood) {
  if (!likelihood) likelihood = likelihood_for(target_column(table, target));
  return likelihood ? task_of(*likelihood) : TaskKind::classification;
}

Task fit_task(const Table& table, const std::vector<int64_t>& rows, const TargetOptions& options,
              const ColumnStatistics* all) {
  const std::string &target = options.name, &scale = options.scale;
  const Column& column = target_column(table, target);
  const auto likelihood = options.likelihood ? options.likelihood : likelihood_for(column, all);
  const TaskKind kind = likelihood ? task_of(*likelihood) : TaskKind::classification;
  if (scale != "standard" && scale != "centred")
    refuse("target", "a scale 'standard' or 'centred'", in_quotes(scale));
  if (kind != TaskKind::regression && scale != "standard")
    refuse("target", fmt::format("numbers in the target {} for `.target_scale={}`", in_quotes(target), scale),
           name_of(kind),
           options.likelihood || column.kind != ColumnKind::numeric
               ? "leave `.target_scale` out"
               : "`.likelihood=gaussian` fits two whole numbers as numbers; or leave `.target_scale` out");
  if (options.bounds && kind != TaskKind::regression)
    refuse("target", fmt::format("numbers in the target {} for `.bounds`", in_quotes(target)), name_of(kind),
           options.likelihood || column.kind != ColumnKind::numeric
               ? "leave `.bounds` out"
               : "`.likelihood=gaussian` fits two whole numbers as numbers; or leave `.bounds` out");
  if (kind == TaskKind::classification) return class_task(table, column, rows, likelihood, all);
  if (kind == TaskKind::events)
    refuse("target", "no target for `.likelihood=cox`, whose rows are events", in_quotes(target),
           "leave `.target` out");
  if (!of_numbers(column))
    refuse("target", fmt::format("numbers in the target {}", in_quotes(target)),
           fmt::format("a {} column", kind_name(column.kind)),
           fmt::format("`.likelihood={}` needs numbers", name_of(likelihood.value())));
  for (int64_t row : rows)  // throws for a bad cell
    kind == TaskKind::counts ? count_in(table, column, row) : target_in(table, column, row);
  Task task;
  task.kind = kind;
  task.likelihood = *likelihood;
  if (kind == TaskKind::regression) fit_numbers(table, rows, options, all, task);
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
    if (task.bounds && !std::isnan(value)) check_within(table, column, row, *task.bounds);
    if (task.bounds || std::isnan(value) ||
        std::abs(value / task.y_scale - task.y_shift / task.y_scale) <= kMost)
      continue;
    throw_bad_cell(
        table, row,
        fmt::format("expected a target {} within {:g}{} of their mean {:g}; received {:g}; correct or remove "
                    "the row",
                    in_quotes(target), kMost, unit, task.y_shift, value));
  }
}

Table with_target(Table table, const std::string& target) {
  const Column* column = table.find(target);
  if (column == nullptr) return table;
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < table.rows; ++row) {
    if (!std::isnan(column->values[static_cast<size_t>(row)])) rows.push_back(row);
  }
  if (rows.empty())
    refuse("target", fmt::format("rows with a value in the target {}", in_quotes(target)),
           fmt::format("{} without one", counted(table.rows, "row")), "check the column's name");
  if (std::ssize(rows) == table.rows) return table;  // moves it; with ?: it would be copied
  return take_rows(table, rows);
}

std::vector<double> target_values(const Table& table, const std::string& target, const Task& task) {
  const Column& given = target_column(table, target);
  bool classes = task.kind == TaskKind::classification;
  // Classes that mean yes and no may be written or stored in another way than in training.
  const auto bits = classes ? bits_as(given, {ColumnKind::categorical, task.levels}) : std::nullopt;
  const Column& column = bits ? *bits : given;
  if (!classes && !of_numbers(column))
    refuse("target", fmt::format("numbers in the target {}", in_quotes(target)),
           fmt::format("a {} column", kind_name(column.kind)),
           fmt::format("{} needs numbers", name_of(task.kind)));
  std::vector<int64_t> slots;  // class number of each level of the column; -1: a new class
  for (const std::string& level : column.levels) {
    auto found = std::ranges::find(task.levels, level);
    slots.push_back(found == task.levels.end() ? -1 : found - task.levels.begin());
  }
  if (classes && slots.empty() && !tells_apart(task.levels, column.kind))
    refuse("target",
           fmt::format("text in the target {}, where different classes read as one {} value",
                       in_quotes(column.name), kind_name(column.kind)),
           fmt::format("a {} column", kind_name(column.kind)),
           "read the table as the model's reading() says");
  std::vector<double> y;
  y.reserve(static_cast<size_t>(table.rows));
  for (int64_t row = 0; row < table.rows; ++row) {
    double value =
        task.kind == TaskKind::counts ? count_in(table, column, row) : target_in(table, column, row);
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
      y.push_back(static_cast<double>(slot));
    } else {
      if (task.bounds) check_within(table, column, row, *task.bounds);
      y.push_back(encoded_target(task, value));
    }
  }
  return y;
}

}  // namespace slimbayes
