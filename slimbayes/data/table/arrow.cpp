// Converts Arrow tables, whose columns have types, to slimbayes tables.
//
// The type of a column decides its kind: a string column stays categorical even if every string is a number.
// Arrow stores a column in chunks; each is converted to doubles once. Each chunk may have a dictionary of its
// own, so the levels of all chunks are merged by their text.
#include "slimbayes/data/table/arrow.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "slimbayes/data/table/cells.h"
#include "slimbayes/data/table/column_names.h"
#include "slimbayes/data/table/kept.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

constexpr double kFirstShared = 0x1p53;  // 2^53, the first integer whose double another integer shares

template <class ArrayType>
void append_values(const arrow::Array& chunk, double unit, std::vector<double>& out) {
  const auto& array = static_cast<const ArrayType&>(chunk);
  for (int64_t i = 0; i < array.length(); ++i) {
    out.push_back(array.IsNull(i) ? kMissing : static_cast<double>(array.Value(i)) * unit);
  }
}

/// Appends the double nearest to each cell of Arrow's decimal type.
void append_decimals(const arrow::Array& chunk, std::vector<double>& out) {
  for (int64_t i = 0; i < chunk.length(); ++i)
    out.push_back(chunk.IsNull(i) ? kMissing : parse_number(cell_text(chunk, i)).value_or(kMissing));
}

/// Appends timestamps in seconds. Whole seconds and the rest are converted separately, because the product of
/// an int64 of nanoseconds with 1e-9 would be rounded twice.
void append_timestamps(const arrow::Array& chunk, std::vector<double>& out) {
  const auto& array = static_cast<const arrow::TimestampArray&>(chunk);
  static constexpr int64_t per_second[] = {1, 1000, 1000000, 1000000000};
  auto unit = static_cast<const arrow::TimestampType&>(*array.type()).unit();
  int64_t scale = per_second[static_cast<int>(unit)];
  for (int64_t i = 0; i < array.length(); ++i) {
    int64_t value = array.IsNull(i) ? 0 : array.Value(i);
    const int64_t whole = value / scale;
    const double seconds =
        static_cast<double>(whole) + static_cast<double>(value % scale) / static_cast<double>(scale);
    out.push_back(array.IsNull(i) ? kMissing : seconds);
  }
}

/// Gives the levels of a column their indices, in order of first appearance. A call returns the index of a
/// text and adds it to column.levels if it is new.
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

/// Appends the level index of each cell of a string array. Returns false, and appends nothing, for another
/// type.
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
  // Only dictionary entries that occur in a cell become levels of the column. So the entries are first
  // collected in a column of their own, from which the cells below add those that occur to `levels`.
  std::vector<double> codes;
  Column entries;
  Levels own{entries};
  const arrow::Array& words = *array.dictionary();
  if (!append_text(words, own, codes)) {
    if (!arrow::is_primitive(words.type_id()) && !arrow::is_decimal(words.type_id())) return false;
    for (int64_t i = 0; i < words.length(); ++i)  // categories that are numbers, booleans or times
      codes.push_back(words.IsNull(i) ? kMissing : own(cell_text(words, i)));
  }
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
      if (!arrow::is_decimal(chunk.type_id())) return append_text(chunk, levels, out);
      append_decimals(chunk, out);
      return true;
  }
}

/// Returns whether a column of this type may hold integers beyond 2^53, which a double cannot hold exactly.
bool may_be_large(const arrow::DataType& type) {
  return type.id() == arrow::Type::INT64 || type.id() == arrow::Type::UINT64 || arrow::is_decimal(type.id());
}

/// Sets Column::large and Column::large_row if a cell is an integer beyond 2^53.
void find_large(const arrow::ChunkedArray& cells, Column& column) {
  if (!may_be_large(*cells.type())) return;
  for (size_t row = 0; row < column.values.size(); ++row) {
    if (!(std::abs(column.values[row]) >= kFirstShared)) continue;
    const auto one = cells.Slice(static_cast<int64_t>(row), 1);
    std::string text = cell_text(*one->chunk(0), 0);
    if (text == "9007199254740992" || text == "-9007199254740992" || text.find('.') != std::string::npos)
      continue;
    column.large = std::move(text);
    column.large_row = static_cast<int64_t>(row);
    return;
  }
}

/// Returns a categorical column of integers or decimals, with the exact text of each different number as a
/// level. Use it where doubles would merge different numbers.
Column exact_categories(const arrow::ChunkedArray& cells, const std::string& name) {
  Column column{name, ColumnKind::categorical, {}, {}};
  column.values.reserve(static_cast<size_t>(cells.length()));
  Levels levels{column};
  for (const auto& chunk : cells.chunks()) {
    for (int64_t i = 0; i < chunk->length(); ++i)
      column.values.push_back(chunk->IsNull(i) ? kMissing : levels(cell_text(*chunk, i)));
  }
  return column;
}

[[noreturn]] void throw_type(const std::string& name, const arrow::DataType& type,
                             const std::string& source) {
  throw DataError(
      source, fmt::format("expected numbers, booleans, text, dates or timestamps in column {}; received the "
                          "type {}; cast it, or leave the column out (fit: `.ignore`)",
                          in_quotes(name), type.ToString()));
}

bool in(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

/// Throws DataError for a time outside the years 0 to 9999, which a damaged file may hold; where the column
/// is not needed, it becomes missing.
void check_times(Column& column, bool needed, const TableFile& file) {
  constexpr double kFirst = -62167219200.0, kEnd = 253402300800.0;  // seconds since 1970
  for (size_t row = 0; row < column.values.size(); ++row) {
    double& time = column.values[row];
    if (std::isnan(time) || (time >= kFirst && time < kEnd)) continue;
    if (needed)
      throw DataError(
          file.source,
          fmt::format("expected times in the years 0 to 9999 in column {}; received {:g} "
                      "seconds since 1970 in row {}; correct the cell, or leave the column out "
                      "(fit: `.ignore`)",
                      in_quotes(column.name), time, file.rows_before + static_cast<int64_t>(row) + 1));
    time = kMissing;
  }
}

/// Converts one column. Throws DataError for infinite numbers and for a type that cannot be converted; if the
/// column is not needed (is_needed), such cells become missing instead.
Column column_from(const arrow::ChunkedArray& cells, const std::string& name, const TableFile& file) {
  const auto& [source, reading, bound, skipped, before] = file;
  const auto& type = *cells.type();
  const bool needed = is_needed(reading, name);
  const auto rows = static_cast<size_t>(cells.length());
  Column column{name, kind_of(type), {}, {}};
  column.values.reserve(rows);
  Levels levels{column};
  for (const auto& chunk : cells.chunks()) {
    if (append_chunk(*chunk, levels, column.values)) continue;
    if (needed) throw_type(name, type, source);
    return {name, ColumnKind::categorical, std::vector<double>(rows, kMissing), {}};
  }
  for (const std::string& level : column.levels) bound.check_cell(level.size(), name, source);
  check_finite(column, needed, source, before);
  if (column.kind == ColumnKind::datetime) check_times(column, needed, file);
  if (type.id() == arrow::Type::TIMESTAMP)
    column.offsets = !static_cast<const arrow::TimestampType&>(type).timezone().empty();
  find_large(cells, column);
  const auto known = reading.kinds.find(name);
  const bool categories =
      in(reading.labels, name) || (known != reading.kinds.end() && known->second == ColumnKind::categorical);
  const bool names = in(reading.names, name);
  const auto shared = [](double x) { return std::abs(x) >= kFirstShared; };
  if (may_be_large(type) && (names || (categories && std::ranges::any_of(column.values, shared))))
    return exact_categories(cells, name);
  return names && column.kind != ColumnKind::categorical ? as_categorical(column) : column;
}

}  // namespace

void check_any_rows(int64_t rows, const std::string& source) {
  if (rows == 0)
    throw DataError(source, "expected rows; received none; check how the file was written, or leave it out");
}

Table from_arrow(std::shared_ptr<arrow::Table> data, const TableFile& file,
                 const std::shared_ptr<arrow::MemoryPool>& memory) {
  const auto& [source, reading, bound, skipped, before] = file;
  Table table{source, {}, data->num_rows()};
  std::vector<std::string> names = data->ColumnNames();
  name_row_labels(names);
  check_names(names, source);
  check_any_rows(table.rows, source);
  arrow::ChunkedArrayVector columns = data->columns();
  data.reset();
  const double numbers = 8.0 * static_cast<double>(table.rows) * static_cast<double>(columns.size());
  const auto held = static_cast<double>(bound.file) + static_cast<double>(memory->bytes_allocated());
  bound.check(static_cast<uint64_t>(std::min(numbers + held, 0x1p63)), source);
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::shared_ptr<arrow::ChunkedArray> cells = std::move(columns[c]);
    table.columns.push_back(without_marks(column_from(*cells, names[c], file), reading.missing));
    if (in(reading.kept, names[c])) table.columns.back().kept = kept_cells(cells, memory);
  }
  return table;
}

}  // namespace slimbayes
