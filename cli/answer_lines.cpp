#include "cli/answer_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cells.h"

namespace slimbayes::cli {

std::vector<double> levels_of(const PredictRequest& r) {
  for (auto one = r.levels.begin(); one != r.levels.end(); ++one)
    if (std::find(r.levels.begin(), one, *one) != one)
      refuse("predict", "each level once for --level", fmt::format("{:g} twice", *one),
             "name the levels as --level 0.5,0.9");
  return r.levels;
}

Column row_numbers(const Examples& all, const std::vector<int64_t>& places) {
  Column column{"row", ColumnKind::numeric, {}, {}};
  for (const int64_t place : places) {
    int64_t number = place + 1;  // of images
    if (const auto* table = std::get_if<Table>(&all)) number = row_number(*table, place);
    if (const auto* windows = std::get_if<WindowTable>(&all))
      number = row_number(*windows->table, last_row(*windows, place));
    column.values.push_back(static_cast<double>(number));
  }
  return column;
}

void add_numbers(std::optional<Column> numbers, AnswerTable& answer) {
  if (!numbers) return;
  std::vector<Column>& columns = answer.table.columns;
  check(answer.table.find(numbers->name) == nullptr, "predict",
        "another name for --keep than row, a column of --split", "'row'", "rename that column");
  columns.insert(columns.begin(), *std::move(numbers));
  ++answer.exact;
}

void read_target(Table& answer, const Model& model) {
  const auto target = std::ranges::find(answer.columns, model.target(), &Column::name);
  const Reading reading = model.reading(/*with_target=*/true);
  const auto kind = reading.kinds.find(model.target());
  if (target == answer.columns.end() || !target->kept || target->kind != ColumnKind::categorical ||
      kind == reading.kinds.end())
    return;
  std::vector<std::string_view> cells;
  for (const double value : target->values)
    cells.push_back(std::isnan(value) ? std::string_view() : target->levels[static_cast<size_t>(value)]);
  try {
    Column read = column_of_kind(target->name, kind->second, cells, reading.notation);
    read.kept = target->kept;
    *target = std::move(read);
  } catch (const BadCell&) {
  }
}

}  // namespace slimbayes::cli
