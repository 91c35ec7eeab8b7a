#include "slimbayes/data/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

std::string_view kind_name(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::numeric:
      return "numeric";
    case ColumnKind::boolean:
      return "boolean";
    case ColumnKind::categorical:
      return "categorical";
    case ColumnKind::datetime:
      return "datetime";
  }
  throw std::logic_error("[kind_name] internal error: no such kind");
}

ColumnKind kind_named(std::string_view name) {
  for (ColumnKind kind :
       {ColumnKind::numeric, ColumnKind::boolean, ColumnKind::categorical, ColumnKind::datetime}) {
    if (kind_name(kind) == name) return kind;
  }
  throw std::invalid_argument(
      fmt::format("[load] expected the kind of a column; received '{}'; the model file is damaged",
                  foreign_text(name.substr(0, 40))));
}

bool is_row_label(std::string_view name) {
  return name == "Unnamed: 0" || name.starts_with("Unnamed: 0.") ||
         (name.starts_with("__index_level_") && name.ends_with("__"));
}

const Column* Table::find(std::string_view name) const {
  auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

std::vector<std::string> Table::names() const {
  std::vector<std::string> all;
  for (const Column& column : columns) all.push_back(column.name);
  return all;
}

int64_t row_number(const Table& table, int64_t row) {
  return (table.numbers.empty() ? row : table.numbers[static_cast<size_t>(row)]) + 1;
}

std::string row_place(const Table& table, int64_t row) {
  const int64_t number = row_number(table, row);
  const auto next = std::ranges::upper_bound(table.parts, number - 1, {}, &TablePart::first);
  if (next == table.parts.begin()) return fmt::format("data row {}", number);
  const TablePart& part = *std::prev(next);
  return fmt::format("data row {} of {}", number - part.first,
                     foreign_text(std::filesystem::path(part.source).filename().string()));
}

void throw_bad_cell(const Table& table, int64_t row, const std::string& message) {
  throw DataError(table.source.empty() ? "table" : table.source,
                  fmt::format("{}: {}", row_place(table, row), message));
}

}  // namespace slimbayes
