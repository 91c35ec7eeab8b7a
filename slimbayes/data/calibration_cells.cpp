#include "slimbayes/data/calibration_cells.h"

#include <fmt/format.h>

#include <cmath>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {

namespace {

GroupCell cell_of(const Column& column, double value) {
  if (std::isnan(value)) return std::nullopt;
  if (column.kind == ColumnKind::boolean)
    return value != 0 ? "true" : "false";            // files spell them differently
  return cell_text(column, value == 0 ? 0 : value);  // -0 is 0
}

const Column& calibration_column(const Table& table, const FitOptions& options) {
  const Column* column = table.find(options.calibrate_by);
  if (column == nullptr)
    refuse("calibrate",
           fmt::format("the column {}, whose cells tell which calibration group a row belongs to",
                       in_quotes(options.calibrate_by)),
           "a table without it", nearest_hint(options.calibrate_by, table.names()));
  return *column;
}

const Table& table_behind(const Examples& examples) {
  const Table* table = table_of(examples);
  check(table != nullptr, "calibrate", "rows of a table for `.calibrate_by`", "images", "leave it out");
  return *table;
}

}  // namespace

void check_calibrate_by(const Table& table, const FitOptions& options) {
  if (!options.calibrate_by.empty()) calibration_column(table, options);
}

bool have_calibration_cells(const Examples& examples, const FitOptions& options) {
  const Table* table = table_of(examples);
  return table != nullptr && table->find(options.calibrate_by) != nullptr;
}

ColumnKind calibration_kind(const Examples& examples, const FitOptions& options) {
  return calibration_column(table_behind(examples), options).kind;
}

std::vector<GroupCell> calibration_cells(const Examples& examples, const FitOptions& options) {
  calibration_column(table_behind(examples), options);
  const std::shared_ptr<const Table> rows = last_rows(examples);
  const Column& column = calibration_column(*rows, options);
  std::vector<GroupCell> cells;
  cells.reserve(column.values.size());
  for (const double value : column.values) cells.push_back(cell_of(column, value));
  return cells;
}

std::string text_of(const GroupCell& cell) { return cell ? in_quotes(*cell) : "missing"; }

}  // namespace slimbayes
