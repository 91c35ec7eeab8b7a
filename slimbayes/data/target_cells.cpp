#include "slimbayes/data/target_cells.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {

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

double count_in(const Table& table, const Column& column, int64_t row) {
  double value = target_in(table, column, row);
  if (value >= 0 && value == std::floor(value) && value <= 1e15) return value;
  throw_bad_cell(
      table, row,
      fmt::format("expected counts, whole numbers from 0 to 1e15, in the target {}; received {}; correct the "
                  "cell, or fit any number by --likelihood gaussian",
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
