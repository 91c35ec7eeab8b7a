// Keeps the cells of a column as the file stores them, so that they can be written to another file without
// loss. They stay Arrow arrays, because a double cannot hold every 64-bit integer, decimal or nanosecond.
// They are written unchanged to Parquet and Feather, and as text to a text file.
#include "slimbayes/data/table/kept.h"

#include <arrow/api.h>
#include <arrow/array/concatenate.h>
#include <fmt/format.h>

#include <stdexcept>

#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

constexpr int64_t kDay = 86400;  // seconds

template <class ArrayType>
std::string number_text(const arrow::Array& cells, int64_t row) {
  return fmt::format("{}", static_cast<const ArrayType&>(cells).Value(row));
}

template <class ArrayType>
std::string view_text(const arrow::Array& cells, int64_t row) {
  return std::string(static_cast<const ArrayType&>(cells).GetView(row));
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Returns the date of this day, counted from 1970-01-01, as YYYY-MM-DD; nullopt outside the years 0 to 9999.
std::optional<std::string> date_text(int64_t days) {
  if (days < -719528 || days > 2932896) return std::nullopt;
  return format_datetime(static_cast<double>(days * kDay));
}

std::optional<std::string> time_text(const arrow::Array& cells, int64_t row) {
  static constexpr int64_t per_second[] = {1, 1000, 1000000, 1000000000};
  const auto& type = static_cast<const arrow::TimestampType&>(*cells.type());
  const auto unit = static_cast<int>(type.unit());
  const int64_t value = static_cast<const arrow::TimestampArray&>(cells).Value(row);
  const int64_t seconds = floor_div(value, per_second[unit]), days = floor_div(seconds, kDay);
  const auto date = date_text(days);
  if (!date) return std::nullopt;
  const int64_t clock = seconds - kDay * days, fraction = value - per_second[unit] * seconds;
  std::string text = fmt::format("{}T{:02}:{:02}:{:02}", *date, clock / 3600, clock / 60 % 60, clock % 60);
  if (fraction > 0) {
    text += fmt::format(".{:0{}}", fraction, 3 * unit);
    text.resize(text.find_last_not_of('0') + 1);
  }
  return text + (type.timezone().empty() ? "" : "Z");
}

std::string printed(const arrow::Array& cells, int64_t row) {
  const auto scalar = cells.GetScalar(row);
  if (!scalar.ok()) throw std::runtime_error(scalar.status().message());
  const std::string text = (*scalar)->ToString(), type = cells.type()->ToString();
  return text.starts_with(type) ? text.substr(type.size()) : text;  // Arrow prefixes a list with its type
}

}  // namespace

FileCells kept_cells(std::shared_ptr<arrow::ChunkedArray> cells, std::shared_ptr<arrow::MemoryPool> memory) {
  struct Kept {
    std::shared_ptr<arrow::MemoryPool> memory;  // declared first, so that it is destroyed last
    std::shared_ptr<arrow::ChunkedArray> cells;
  };
  const auto both = std::make_shared<Kept>(Kept{std::move(memory), std::move(cells)});
  return {both, both->cells.get()};
}

bool are_text(const FileCells& cells) {
  const arrow::Type::type id = cells->type()->id();
  return id == arrow::Type::STRING || id == arrow::Type::LARGE_STRING || id == arrow::Type::STRING_VIEW;
}

FileCells taken_cells(const FileCells& cells, const std::vector<int64_t>& rows) {
  arrow::ArrayVector runs;
  for (size_t i = 0; i < rows.size();) {
    size_t end = i + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    const auto run = cells->Slice(rows[i], static_cast<int64_t>(end - i));
    for (const auto& chunk : run->chunks()) runs.push_back(chunk);
    i = end;
  }
  struct Taken {
    FileCells from;  // kept alive: `cells` may point into its memory
    std::shared_ptr<arrow::ChunkedArray> cells;
  };
  const auto both = std::make_shared<Taken>(Taken{cells, nullptr});
  if (runs.empty()) runs = cells->Slice(0, 0)->chunks();
  if (runs.size() > 1) {
    auto whole = arrow::Concatenate(runs);
    if (!whole.ok()) throw std::runtime_error(whole.status().message());
    runs = {*whole};
  }
  both->cells = std::make_shared<arrow::ChunkedArray>(runs, cells->type());
  return {both, both->cells.get()};
}

FileCells extended(const FileCells& cells, const std::vector<int64_t>& rows, bool copied) {
  struct Extended {
    FileCells from, more;  // kept alive: `cells` points into their memory
    std::shared_ptr<arrow::ChunkedArray> cells;
  };
  const auto all = std::make_shared<Extended>(Extended{cells, nullptr, nullptr});
  arrow::ArrayVector chunks = cells->chunks();
  if (copied) {
    all->more = taken_cells(cells, rows);
    chunks.insert(chunks.end(), all->more->chunks().begin(), all->more->chunks().end());
  } else {
    auto nulls = arrow::MakeArrayOfNull(cells->type(), std::ssize(rows));
    if (!nulls.ok()) throw std::runtime_error(nulls.status().message());
    chunks.push_back(*nulls);
  }
  all->cells = std::make_shared<arrow::ChunkedArray>(std::move(chunks), cells->type());
  return {all, all->cells.get()};
}

FileCells joined_cells(const FileCells& first, const FileCells& second) {
  if (!first->type()->Equals(second->type())) return nullptr;
  struct Both {
    FileCells first, second;  // kept alive: `cells` points into their memory
    std::shared_ptr<arrow::ChunkedArray> cells;
  };
  arrow::ArrayVector chunks = first->chunks();
  chunks.insert(chunks.end(), second->chunks().begin(), second->chunks().end());
  const auto both = std::make_shared<Both>(
      Both{first, second, std::make_shared<arrow::ChunkedArray>(std::move(chunks), first->type())});
  return {both, both->cells.get()};
}

std::string cell_text(const arrow::Array& cells, int64_t row) {
  std::optional<std::string> text;
  switch (cells.type_id()) {
    case arrow::Type::BOOL:
      return static_cast<const arrow::BooleanArray&>(cells).Value(row) ? "true" : "false";
    case arrow::Type::INT64:
      return number_text<arrow::Int64Array>(cells, row);
    case arrow::Type::UINT64:
      return number_text<arrow::UInt64Array>(cells, row);
    case arrow::Type::FLOAT:
      return number_text<arrow::FloatArray>(cells, row);
    case arrow::Type::DOUBLE:
      return number_text<arrow::DoubleArray>(cells, row);
    case arrow::Type::STRING:
      return view_text<arrow::StringArray>(cells, row);
    case arrow::Type::LARGE_STRING:
      return view_text<arrow::LargeStringArray>(cells, row);
    case arrow::Type::STRING_VIEW:
      return view_text<arrow::StringViewArray>(cells, row);
    case arrow::Type::DICTIONARY: {
      const auto& codes = static_cast<const arrow::DictionaryArray&>(cells);
      return cell_text(*codes.dictionary(), codes.GetValueIndex(row));
    }
    case arrow::Type::DATE32:
      text = date_text(static_cast<const arrow::Date32Array&>(cells).Value(row));
      break;
    case arrow::Type::DATE64:
      text = date_text(floor_div(static_cast<const arrow::Date64Array&>(cells).Value(row), 1000 * kDay));
      break;
    case arrow::Type::TIMESTAMP:
      text = time_text(cells, row);
      break;
    default:  // Arrow's format will do: small integers, decimals, times of day, lists
      break;
  }
  return text ? *text : printed(cells, row);
}

std::optional<std::string> CellTexts::next() {
  while (row_ >= cells_->chunk(chunk_)->length()) ++chunk_, row_ = 0;
  const arrow::Array& chunk = *cells_->chunk(chunk_);
  const int64_t row = row_++;
  if (chunk.IsNull(row)) return std::nullopt;
  return cell_text(chunk, row);
}

}  // namespace slimbayes
