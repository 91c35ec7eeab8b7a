// Converts slimbayes tables to Arrow tables, which Arrow then writes to files.
#include <arrow/api.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

#include "slimbayes/data/table/arrow.h"
#include "slimbayes/data/table/kept.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

std::shared_ptr<arrow::Array> finished(arrow::ArrayBuilder& builder) {
  auto array = builder.Finish();
  if (!array.ok()) throw std::runtime_error(array.status().message());
  return *array;
}

template <class Builder, class Value>
std::shared_ptr<arrow::Array> built(Builder&& builder, const Column& column, Value value) {
  for (double cell : column.values) {
    arrow::Status status = std::isnan(cell) ? builder.AppendNull() : builder.Append(value(cell));
    if (!status.ok()) throw std::runtime_error(foreign_text(status.message()));
  }
  return finished(builder);
}

std::shared_ptr<arrow::ChunkedArray> to_arrow(const Column& column, bool dictionaries) {
  const auto whole = [](std::shared_ptr<arrow::Array> array) {
    return std::make_shared<arrow::ChunkedArray>(std::move(array));
  };
  const auto level = [&](double x) -> const std::string& { return column.levels.at(static_cast<size_t>(x)); };
  const bool exact = column.kind != ColumnKind::numeric || !column.large.empty();
  if (column.kept && (exact || !are_text(column.kept)))
    return std::make_shared<arrow::ChunkedArray>(column.kept->chunks(), column.kept->type());
  switch (column.kind) {
    case ColumnKind::boolean:
      return whole(built(arrow::BooleanBuilder(), column, [](double x) { return x != 0; }));
    case ColumnKind::datetime:
      return whole(built(arrow::TimestampBuilder(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
                                                 arrow::default_memory_pool()),
                         column, [](double x) { return static_cast<int64_t>(std::llround(x * 1e6)); }));
    case ColumnKind::categorical:
      return whole(dictionaries ? built(arrow::StringDictionaryBuilder(), column, level)
                                : built(arrow::StringBuilder(), column, level));
    default:
      return whole(built(arrow::DoubleBuilder(), column, [](double x) { return x; }));
  }
}

}  // namespace

std::shared_ptr<arrow::Table> to_arrow(const Table& table, bool dictionaries) {
  arrow::FieldVector fields;
  arrow::ChunkedArrayVector arrays;
  for (const Column& column : table.columns) {
    arrays.push_back(to_arrow(column, dictionaries));
    fields.push_back(arrow::field(column.name, arrays.back()->type()));
  }
  return arrow::Table::Make(arrow::schema(fields), arrays, table.rows);
}

}  // namespace slimbayes
