#include "slimbayes/explain/partial_dependence.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/explain/answer_parts.h"
#include "slimbayes/explain/association.h"
#include "slimbayes/explain/column_groups.h"

namespace slimbayes {
namespace {

/// Returns the values of a column at which its curve is computed.
std::vector<double> grid_of(const Column& column, const PartialOptions& options) {
  std::map<double, int64_t> cells;  // how often each occurs
  std::vector<double> sorted;
  for (const double x : column.values)
    if (!std::isnan(x)) ++cells[x], sorted.push_back(x);
  std::ranges::sort(sorted);
  std::vector<double> grid;
  for (const auto& [cell, times] : cells) grid.push_back(cell);
  if (column.kind == ColumnKind::categorical) {
    std::ranges::stable_sort(grid, std::greater{}, [&](double level) { return cells[level]; });
    if (std::ssize(grid) > options.levels) grid.resize(static_cast<size_t>(options.levels));
    return grid;
  }
  if (std::ssize(grid) <= options.points) return grid;
  grid.clear();
  for (int64_t k = 0; k < options.points; ++k) {
    const double place = static_cast<double>(k) / static_cast<double>(options.points - 1) *
                         static_cast<double>(sorted.size() - 1);
    const double cell = sorted[static_cast<size_t>(std::llround(place))];
    if (grid.empty() || cell > grid.back()) grid.push_back(cell);
  }
  return grid;
}

/// Returns the rows of the table, all of which have this value in the column.
Examples with_value(const Table& table, const std::string& column, double value) {
  Table out = table;
  std::ranges::fill(std::ranges::find(out.columns, column, &Column::name)->values, value);
  return out;
}

double mean_over_rows(const at::Tensor& x) { return x.mean().item<double>(); }

/// Returns the mean of the answers at a value.
PartialPoint mean_answer(const ExplainedRows& rows, const Answers& a) {
  PartialPoint point;
  point.rows = std::ssize(a.rows);
  const AnswerParts parts = answer_parts(a.answer, a.levels.front().interval);
  if (const auto* classes = std::get_if<Classes>(&a.answer)) {
    PartialClasses& of = point.classes.emplace();
    const at::Tensor probabilities = parts.mean.mean(0);
    const std::vector<std::string>& names = rows.model.schema().task.levels;
    for (int64_t c = 0; c < probabilities.size(0); ++c)
      of.probabilities[names.at(static_cast<size_t>(c))] = probabilities[c].item<double>();
    of.entropy = mean_over_rows(classes->predictive_entropy);
    of.mutual_information = mean_over_rows(parts.epistemic);
    return point;
  }
  point.numbers = {mean_over_rows(parts.mean), std::sqrt(mean_over_rows(parts.aleatoric.square())),
                   std::sqrt(mean_over_rows(parts.epistemic.square())), mean_over_rows(parts.width)};
  return point;
}

/// Returns the sentences on the columns that go together with this one.
std::vector<std::string> together_notes(const ExplainedRows& rows, const InputColumn& column) {
  const RankedColumn own = ranked(*column.cells);
  std::vector<std::string> names;
  for (const InputColumn& other : input_columns(rows))
    if (other.feature->name != column.feature->name && association(own, ranked(*other.cells)) > kAssociated)
      names.push_back(in_quotes(other.feature->name));
  if (names.empty()) return {};
  return {fmt::format(
      "the curve of {} is an average over combinations that the data do not have: it goes together with {}",
      in_quotes(column.feature->name), fmt::join(names, ", "))};
}

/// Returns the value as a point shows it: numbers as they are, other cells as text.
std::variant<double, std::string> shown_value(const Column& column, double value) {
  if (column.kind == ColumnKind::numeric) return value;
  return cell_text(column, value);
}

}  // namespace

void check_has_curves(const ExplainedRows& rows) {
  check(std::holds_alternative<Table>(rows.examples), "explain",
        "rows of a table for the partial dependence on a column (`.column`)",
        "windows, in which a column has many cells", "leave it out: the importance takes windows");
}

PartialDependence partial_dependence(const ExplainedRows& rows, const std::string& name,
                                     const PartialOptions& options) {
  check_has_curves(rows);
  check(options.points >= 2 && options.levels >= 1 && options.rows >= 1, "explain",
        "at least two values of a column and one row", "fewer");
  const InputColumn column = input_column(rows, name);
  const std::vector<double> grid = grid_of(*column.cells, options);
  if (grid.empty())
    refuse("explain", "a column with values", fmt::format("{} without any", in_quotes(name)),
           "give rows that have some");
  const Table some = take_rows(std::get<Table>(rows.examples), spaced(rows.size(), options.rows));
  PartialDependence out{name, std::string(kind_name(column.cells->kind)), {}, together_notes(rows, column)};
  for (const double value : grid) {
    const Answers a = rows.model.answers(with_value(some, column.cells->name, value),
                                         {{rows.answers.levels.front().level}});
    if (a.rows.empty()) throw_bad_example(some, a.bad.front());
    out.points.push_back(mean_answer(rows, a));
    out.points.back().value = shown_value(*column.cells, value);
    if (options.progress)
      options.progress(static_cast<double>(out.points.size()) / static_cast<double>(grid.size()));
  }
  return out;
}

}  // namespace slimbayes
