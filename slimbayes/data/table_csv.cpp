// Reads and writes delimited text.
//
// Arrow's reader cuts the text into cells (strings, no inference: table_cells judges them). Arrow does not
// say where a fault lies. So a small walker over the same grammar reads the header and, only after a fault,
// finds the line again. Reading costs two passes over the bytes and some 50 ns per cell.
#include "slimbayes/data/table_csv.h"

#include <arrow/api.h>
#include <arrow/csv/api.h>
#include <arrow/io/api.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>

#include "slimbayes/data/table_cells.h"
#include "slimbayes/data/table_kept.h"
#include "slimbayes/data/table_pool.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes {
namespace {

struct Record {
  int64_t line;
  std::vector<std::string> fields;
  bool open_quote = false;
};

/// Walks the records of a text. A quote opens only at the start of a field, as in Arrow's reader.
struct Walker {
  std::string_view text;
  char delimiter;
  size_t at = 0;
  int64_t line = 1;

  /// Returns the next record. A field longer than `most` bytes is cut after most + 1 bytes.
  std::optional<Record> next(size_t most = std::string::npos) {
    while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) end_line();
    if (at >= text.size()) return std::nullopt;
    Record record{line, {}};
    do record.fields.push_back(field(record.open_quote, most));
    while (at < text.size() && text[at] == delimiter && ++at);
    if (at < text.size()) end_line();
    return record;
  }

  void end_line() {
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ++at;
    ++at, ++line;
  }

  std::string field(bool& open_quote, size_t most) {
    std::string out;
    bool inside = at < text.size() && text[at] == '"';
    for (at += inside; at < text.size(); ++at) {
      char c = text[at];
      if (inside && c == '"') {
        if (at + 1 < text.size() && text[at + 1] == '"')
          ++at;
        else {
          inside = false;
          continue;
        }
      }
      if (!inside && (c == delimiter || c == '\n' || c == '\r')) return out;
      if (c == '\n') ++line;
      if (out.size() <= most) out += c;
    }
    open_quote = open_quote || inside;
    return out;
  }
};

void check_text(std::string_view text, const std::string& source) {
  if (text.starts_with("\x1f\x8b"))
    throw DataError(source, "expected text; received a gzip file; name it .csv.gz or .tsv.gz");
  if (text.starts_with("PAR1"))
    throw DataError(source, "expected text; received a Parquet file; name it .parquet");
  if (text.find('\0') != std::string_view::npos) {
    throw DataError(
        source,
        "expected text; received bytes of zero; is it a binary file, or text in UTF-16? Save it as UTF-8");
  }
  arrow::util::InitializeUTF8();
  if (arrow::util::ValidateUTF8(text)) return;
  int64_t line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    size_t end = std::min(text.find('\n', at), text.size());
    if (!arrow::util::ValidateUTF8(text.substr(at, end - at))) break;
    at = end + 1;
  }
  throw DataError(
      source, "expected text in UTF-8; received other bytes; convert it, e.g. iconv -f latin1 -t utf8", line);
}

std::string long_cell(const TableBound& bound) {
  return fmt::format("a cell longer than {}; shorten it, or write the table without its column",
                     bytes_text(bound.cell));
}

std::vector<std::string> read_header(Walker& walker, const std::string& source, const TableBound& bound) {
  std::optional<Record> header = walker.next(bound.cell);
  if (!header)
    throw DataError(source, "expected a header line and rows; received an empty file; check the path");
  if (header->open_quote)
    throw DataError(source, "expected a closing quote; received the end of the file; close it", header->line);
  std::vector<std::string> names;
  for (const std::string& field : header->fields) {
    if (field.size() > bound.cell)
      throw DataError(source, "expected names of columns; received " + long_cell(bound), header->line);
    names.emplace_back(trimmed(field));
  }
  if (names.size() == 1) {
    for (char c : {',', ';', '\t', '|'}) {
      if (names[0].find(c) == std::string::npos) continue;
      throw DataError(
          source,
          fmt::format("expected columns separated by '{}'; received '{}' in the first line; use "
                      "commas in a .csv and tabs in a .tsv, and a point for decimals",
                      walker.delimiter == '\t' ? "\\t" : ",", c == '\t' ? "\\t" : std::string(1, c)),
          header->line);
    }
  }
  name_row_labels(names);
  check_names(names, source);
  return names;
}

/// Throws DataError that names the first line that is not a row of the table.
[[noreturn]] void throw_bad_record(Walker walker, size_t columns, const std::string& source,
                                   const arrow::Status& status) {
  bool first = true;
  constexpr size_t most = 1 << 20;  // most bytes kept of a cell: its text does not matter here
  for (std::optional<Record> record = walker.next(most); record; record = walker.next(most), first = false) {
    if (record->open_quote) {
      throw DataError(
          source,
          "expected a closing quote; received the end of the file; close the quote that opens in this row",
          record->line);
    }
    if (record->fields.size() == columns) continue;
    throw DataError(
        source,
        fmt::format(
            "expected {} cells as in the header; received {}; add or remove separators, and put a cell "
            "that holds one in double quotes{}",
            columns, record->fields.size(),
            first && columns > 1 && record->fields.size() == columns + 1
                ? "; if each row begins with a label, as R's write.table has them, begin the header with a "
                  "separator"
                : ""),
        record->line);
  }
  throw DataError(
      source, fmt::format("expected delimited text; received what Arrow cannot read: {}", status.message()));
}

/// Estimates the bytes of memory that reading takes: the text; Arrow's copy of the cells, with an int32
/// offset for each; a double for each cell; and a string_view for each cell of the column being parsed.
uint64_t bytes_to_read(std::string_view text, char delimiter) {
  const auto rows = static_cast<uint64_t>(std::ranges::count(text, '\n')) + 1;
  const uint64_t cells = static_cast<uint64_t>(std::ranges::count(text, delimiter)) + rows;
  return 2 * text.size() + cells * (sizeof(int32_t) + sizeof(double)) + rows * sizeof(std::string_view);
}

/// Returns the bytes of the longest row. Throws DataError for a cell beyond the bound and for a quote that is
/// not closed.
size_t longest_row(Walker walker, const TableBound& bound, const std::string& source) {
  size_t longest = 0;
  for (size_t start = walker.at; true; start = walker.at) {
    const std::optional<Record> record = walker.next(bound.cell);
    if (!record) return longest;
    longest = std::max(longest, walker.at - start);
    const auto large = [&](const std::string& field) { return field.size() > bound.cell; };
    const auto place = std::ranges::find_if(record->fields, large);
    if (place == record->fields.end() && !record->open_quote) continue;
    throw DataError(
        source,
        record->open_quote
            ? "expected a closing quote; received the end of the file; close the quote that opens in this row"
            : "expected cells of a table; received " + long_cell(bound),
        record->line, std::min(place - record->fields.begin() + 1, std::ssize(record->fields)));
  }
}

arrow::Result<std::shared_ptr<arrow::Table>> cut_cells(std::string_view body,
                                                       const std::vector<std::string>& names, char delimiter,
                                                       int64_t block, arrow::MemoryPool* pool) {
  auto read = arrow::csv::ReadOptions::Defaults();
  read.column_names = names;
  read.block_size = static_cast<int32_t>(std::min<int64_t>(block, INT32_MAX));
  read.use_threads = false;  // threads gain nothing, and a shortage of memory cannot be thrown through them
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.delimiter = delimiter;
  parse.newlines_in_values = body.find('"') != std::string_view::npos;
  auto convert = arrow::csv::ConvertOptions::Defaults();
  convert.check_utf8 = false;  // check_text has done so
  // For kept cells, a quoted "" is an empty text and an empty field is null. Arrow must not judge the other
  // spellings of a missing cell.
  convert.null_values = {""};
  convert.strings_can_be_null = true;
  convert.quoted_strings_can_be_null = false;
  for (const std::string& name : names) convert.column_types[name] = arrow::utf8();
  auto buffer = std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(body.data()), body.size());
  ARROW_ASSIGN_OR_RAISE(
      auto reader,
      arrow::csv::TableReader::Make(arrow::io::IOContext(pool),
                                    std::make_shared<arrow::io::BufferReader>(buffer), read, parse, convert));
  return reader->Read();
}

/// Returns whether the table's last cell holds more than one line: this suggests a quote that only the end of
/// the file closed.
bool ends_in_lines(const arrow::ChunkedArrayVector& columns) {
  if (columns.empty() || columns.back()->length() == 0) return false;
  const auto& last = static_cast<const arrow::StringArray&>(*columns.back()->chunks().back());
  return last.length() > 0 && last.GetView(last.length() - 1).find('\n') != std::string_view::npos;
}

/// Returns the columns as text. If a row is longer than a block, the blocks are made as long as the longest
/// row.
arrow::ChunkedArrayVector cells_of(std::string_view body, const Walker& walker,
                                   const std::vector<std::string>& names, const TableBound& bound,
                                   const std::string& source, TablePool& pool) {
  const auto cut = [&](int64_t block) {
    try {
      auto cells = cut_cells(body, names, walker.delimiter, block, &pool);
      pool.check(cells.status());
      return cells;
    } catch (const std::bad_alloc&) {
      pool.throw_shortage();
    }
  };
  auto cells = cut(1 << 20);
  if (!cells.ok() && cells.status().message().find("block") != std::string::npos)
    cells = cut(static_cast<int64_t>(longest_row(walker, bound, source)) + 1024);
  if (!cells.ok()) throw_bad_record(walker, names.size(), source, cells.status());
  // Arrow closes an open quote at the end of the file: the rows after the quote would become one cell.
  if (ends_in_lines((*cells)->columns())) longest_row(walker, bound, source);
  return (*cells)->columns();
}

/// Returns the cells of a column as views. Throws BadCell for a cell beyond the bound.
std::vector<std::string_view> views(const arrow::ChunkedArray& column, const TableBound& bound) {
  std::vector<std::string_view> out;
  out.reserve(static_cast<size_t>(column.length()));
  for (const auto& chunk : column.chunks()) {
    const auto& strings = static_cast<const arrow::StringArray&>(*chunk);
    for (int64_t i = 0; i < strings.length(); ++i) {
      out.push_back(strings.GetView(i));
      if (out.back().size() <= bound.cell) continue;
      throw BadCell(std::ssize(out) - 1, "expected cells of a table; received " + long_cell(bound));
    }
  }
  return out;
}

[[noreturn]] void throw_cell(Walker walker, const BadCell& bad, int64_t column, const std::string& source) {
  std::optional<Record> record = walker.next();
  for (int64_t row = 0; record && row < bad.row; ++row) record = walker.next();
  throw DataError(source, bad.what(), record ? record->line : bad.row + 2, column);
}

/// Reads a column by its known kind, else by its cells.
Column column_of(const std::string& name, std::span<const std::string_view> cells, const Reading& reading) {
  if (std::ranges::find(reading.names, name) != reading.names.end())
    return column_of_kind(name, ColumnKind::categorical, cells);
  if (auto known = reading.kinds.find(name); known != reading.kinds.end())
    return column_of_kind(name, known->second, cells);
  const auto in = [&](const std::vector<std::string>& list) {
    return std::ranges::find(list, name) != list.end();
  };
  if (in(reading.kept)) return column_of_kind(name, ColumnKind::categorical, cells);
  try {
    Column column = column_from_cells(name, cells, !in(reading.numbers));
    if (column.large.empty() || !in(reading.labels)) return column;
    return column_of_kind(name, ColumnKind::categorical, cells);
  } catch (const BadCell&) {
    if (is_needed(reading, name)) throw;
    return column_of_kind(name, ColumnKind::categorical, cells);
  }
}

void append_text(std::string& out, std::string_view text, char delimiter) {
  bool plain = !text.empty() && trimmed(text) == text &&
               text.find_first_of("\"\r\n") == std::string_view::npos &&
               text.find(delimiter) == std::string_view::npos;
  if (plain) {
    out += text;
    return;
  }
  out += '"';
  for (char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

void append_cell(std::string& out, const Column& column, double value, char delimiter) {
  if (std::isnan(value)) return;
  if (column.kind == ColumnKind::boolean)
    out += value != 0 ? "true" : "false";
  else if (column.kind == ColumnKind::categorical)
    append_text(out, cell_text(column, value), delimiter);
  else if (column.kind == ColumnKind::datetime && column.offsets)
    out += format_utc(value);
  else
    out += cell_text(column, value);
}

}  // namespace

Table parse_csv(std::string_view text, char delimiter, const std::string& source, const Reading& reading,
                const TableBound& bound) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  check_text(text, source);
  Walker walker{text, delimiter};
  std::vector<std::string> names = read_header(walker, source, bound);
  std::string_view body = text.substr(std::min(walker.at, text.size()));
  if (body.find_first_not_of("\r\n") == std::string_view::npos) {
    throw DataError(
        source, "expected rows below the header; received the header alone; check how the file was written");
  }
  bound.check(bytes_to_read(text, delimiter), source);
  const auto pool = std::make_shared<TablePool>(bound, text.size(), source);
  arrow::ChunkedArrayVector columns = cells_of(body, walker, names, bound, source, *pool);
  Table table{source, {}, columns[0]->length()};
  for (size_t c = 0; c < names.size(); ++c) {
    // Each column's text is released once its values are read.
    const std::shared_ptr<arrow::ChunkedArray> cells = std::move(columns[c]);
    try {
      table.columns.push_back(column_of(names[c], views(*cells, bound), reading));
    } catch (const BadCell& bad) {
      throw_cell(walker, bad, static_cast<int64_t>(c) + 1, source);
    }
    if (std::ranges::find(reading.kept, names[c]) != reading.kept.end())
      table.columns.back().kept = kept_cells(cells, pool);
  }
  return table;
}

std::string format_csv(const Table& table, char delimiter) {
  std::string out;
  std::vector<std::optional<CellTexts>> kept;
  for (const Column& column : table.columns) {
    if (!out.empty()) out += delimiter;
    append_text(out, column.name, delimiter);
    kept.push_back(column.kept ? std::optional<CellTexts>(column.kept) : std::nullopt);
  }
  out += '\n';
  for (int64_t row = 0; row < table.rows; ++row) {
    size_t start = out.size();
    for (size_t c = 0; c < table.columns.size(); ++c) {
      if (c > 0) out += delimiter;
      if (!kept[c])
        append_cell(out, table.columns[c], table.columns[c].values[static_cast<size_t>(row)], delimiter);
      else if (const std::optional<std::string> text = kept[c]->next())
        append_text(out, *text, delimiter);
    }
    // A reader skips empty lines, so a row of missing cells in a single column is written as "".
    if (out.size() == start) out += "\"\"";
    out += '\n';
  }
  return out;
}

}  // namespace slimbayes
