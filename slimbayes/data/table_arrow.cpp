// Columns that carry their type: Arrow tables to ours and back.
//
// A typed column is taken at its word (a string column stays categorical even if every string is a number);
// its chunks are copied into doubles once. Dictionaries may differ from chunk to chunk, so levels are merged
// by their text.
#include "slimbayes/data/table_arrow.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <unordered_map>

#include "slimbayes/data/table_cells.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

template <class ArrayType>
void append_values(const arrow::Array& chunk, double unit, std::vector<double>& out) {
  const auto& array = static_cast<const ArrayType&>(chunk);
  for (int64_t i = 0; i < array.length(); ++i) {
    out.push_back(array.IsNull(i) ? kMissing : static_cast<double>(array.Value(i)) * unit);
  }
}

/// Whole and fractional seconds apart: a product with 1e-9 would round twice.
void append_timestamps(const arrow::Array& chunk, std::vector<double>& out) {
  const auto& array = static_cast<const arrow::TimestampArray&>(chunk);
  static constexpr int64_t per_second[] = {1, 1000, 1000000, 1000000000};
  auto unit = static_cast<const arrow::TimestampType&>(*array.type()).unit();
  int64_t scale = per_second[static_cast<int>(unit)];
  for (int64_t i = 0; i < array.length(); ++i) {
    int64_t value = array.IsNull(i) ? 0 : array.Value(i);
    double seconds =
        static_cast<double>(value / scale) + static_cast<double>(value % scale) / static_cast<double>(scale);
    out.push_back(array.IsNull(i) ? kMissing : seconds);
  }
}

/// Levels in order of first appearance.
struct Levels {
  Column& column;
  std::unordered_map<std::string, double> index = {};

  double operator()(std::string_view text) {
    auto [found, fresh] = index.try_emplace(std::string(text), static_cast<double>(column.levels.size()));
    if (fresh) column.levels.emplace_back(text);
    return found->second;
  }
};

template <class ArrayType>
void append_strings(const arrow::Array& chunk, Levels& levels, std::vector<double>& out) {
  const auto& array = static_cast<const ArrayType&>(chunk);
  for (int64_t i = 0; i < array.length(); ++i)
    out.push_back(array.IsNull(i) ? kMissing : levels(array.GetView(i)));
}

/// False for an element type that is no text.
bool append_text(const arrow::Array& chunk, Levels& levels, std::vector<double>& out) {
  switch (chunk.type_id()) {
    case arrow::Type::STRING:
      append_strings<arrow::StringArray>(chunk, levels, out);
      return true;
    case arrow::Type::LARGE_STRING:
      append_strings<arrow::LargeStringArray>(chunk, levels, out);
      return true;
    case arrow::Type::STRING_VIEW:
      append_strings<arrow::StringViewArray>(chunk, levels, out);
      return true;
    default:
      return false;
  }
}

bool append_dictionary(const arrow::Array& chunk, Levels& levels, std::vector<double>& out) {
  const auto& array = static_cast<const arrow::DictionaryArray&>(chunk);
  // A level is one that occurs: unused entries of the dictionary are none.
  std::vector<double> codes;
  Column entries;
  Levels own{entries};
  if (!append_text(*array.dictionary(), own, codes)) return false;
  for (int64_t i = 0; i < array.length(); ++i) {
    double code = array.IsNull(i) ? kMissing : codes[static_cast<size_t>(array.GetValueIndex(i))];
    out.push_back(std::isnan(code) ? kMissing : levels(entries.levels[static_cast<size_t>(code)]));
  }
  return true;
}

ColumnKind kind_of(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
      return ColumnKind::boolean;
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
    case arrow::Type::TIMESTAMP:
      return ColumnKind::datetime;
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::DICTIONARY:
      return ColumnKind::categorical;
    default:
      return ColumnKind::numeric;
  }
}

bool append_chunk(const arrow::Array& chunk, Levels& levels, std::vector<double>& out) {
  switch (chunk.type_id()) {
    case arrow::Type::NA:
      out.resize(out.size() + static_cast<size_t>(chunk.length()), kMissing);
      return true;
    case arrow::Type::BOOL:
      append_values<arrow::BooleanArray>(chunk, 1, out);
      return true;
    case arrow::Type::INT8:
      append_values<arrow::Int8Array>(chunk, 1, out);
      return true;
    case arrow::Type::INT16:
      append_values<arrow::Int16Array>(chunk, 1, out);
      return true;
    case arrow::Type::INT32:
      append_values<arrow::Int32Array>(chunk, 1, out);
      return true;
    case arrow::Type::INT64:
      append_values<arrow::Int64Array>(chunk, 1, out);
      return true;
    case arrow::Type::UINT8:
      append_values<arrow::UInt8Array>(chunk, 1, out);
      return true;
    case arrow::Type::UINT16:
      append_values<arrow::UInt16Array>(chunk, 1, out);
      return true;
    case arrow::Type::UINT32:
      append_values<arrow::UInt32Array>(chunk, 1, out);
      return true;
    case arrow::Type::UINT64:
      append_values<arrow::UInt64Array>(chunk, 1, out);
      return true;
    case arrow::Type::FLOAT:
      append_values<arrow::FloatArray>(chunk, 1, out);
      return true;
    case arrow::Type::DOUBLE:
      append_values<arrow::DoubleArray>(chunk, 1, out);
      return true;
    case arrow::Type::DATE32:
      append_values<arrow::Date32Array>(chunk, 86400, out);
      return true;
    case arrow::Type::DATE64:
      append_values<arrow::Date64Array>(chunk, 1e-3, out);
      return true;
    case arrow::Type::TIMESTAMP:
      append_timestamps(chunk, out);
      return true;
    case arrow::Type::DICTIONARY:
      return append_dictionary(chunk, levels, out);
    default:
      return append_text(chunk, levels, out);
  }
}

[[noreturn]] void throw_type(const std::string& name, const arrow::DataType& type,
                             const std::string& source) {
  throw DataError(
      source, fmt::format("expected numbers, booleans, text, dates or timestamps in column {}; received the "
                          "type {}; cast it or write the table without it",
                          in_quotes(name), type.ToString()));
}

std::shared_ptr<arrow::Array> finished(arrow::ArrayBuilder& builder) {
  auto array = builder.Finish();
  if (!array.ok()) throw std::runtime_error(array.status().message());
  return *array;
}

template <class Builder, class Value>
std::shared_ptr<arrow::Array> built(Builder&& builder, const Column& column, Value value) {
  for (double cell : column.values) {
    arrow::Status status = std::isnan(cell) ? builder.AppendNull() : builder.Append(value(cell));
    if (!status.ok()) throw std::runtime_error(status.message());
  }
  return finished(builder);
}

std::shared_ptr<arrow::Array> to_arrow(const Column& column) {
  switch (column.kind) {
    case ColumnKind::boolean:
      return built(arrow::BooleanBuilder(), column, [](double x) { return x != 0; });
    case ColumnKind::datetime:
      return built(arrow::TimestampBuilder(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
                                           arrow::default_memory_pool()),
                   column, [](double x) { return static_cast<int64_t>(std::llround(x * 1e6)); });
    case ColumnKind::categorical:
      return built(arrow::StringDictionaryBuilder(), column,
                   [&](double x) -> const std::string& { return column.levels.at(static_cast<size_t>(x)); });
    default:
      return built(arrow::DoubleBuilder(), column, [](double x) { return x; });
  }
}

}  // namespace

Table from_arrow(const arrow::Table& data, const std::string& source) {
  Table table{source, {}, data.num_rows()};
  std::vector<std::string> names = data.ColumnNames();
  name_row_labels(names);
  check_names(names, source);
  if (table.rows == 0)
    throw DataError(source, "expected rows; received none; check how the file was written");
  for (int c = 0; c < data.num_columns(); ++c) {
    const auto& type = *data.column(c)->type();
    Column column{names[static_cast<size_t>(c)], kind_of(type), {}, {}};
    column.values.reserve(static_cast<size_t>(table.rows));
    Levels levels{column};
    for (const auto& chunk : data.column(c)->chunks()) {
      if (!append_chunk(*chunk, levels, column.values)) throw_type(column.name, type, source);
    }
    for (size_t i = 0; i < column.values.size(); ++i) {
      if (!std::isinf(column.values[i])) continue;
      throw DataError(
          source,
          fmt::format("expected finite numbers in column {}; received {} in row {}; remove the row or "
                      "make the cell null",
                      in_quotes(column.name), column.values[i], i + 1));
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

std::shared_ptr<arrow::Table> to_arrow(const Table& table) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const Column& column : table.columns) {
    arrays.push_back(to_arrow(column));
    fields.push_back(arrow::field(column.name, arrays.back()->type()));
  }
  return arrow::Table::Make(arrow::schema(fields), arrays, table.rows);
}

}  // namespace slimbayes
