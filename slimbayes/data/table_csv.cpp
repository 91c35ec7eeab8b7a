// Delimited text, both ways.
//
// Arrow's multi-threaded reader cuts the text into cells (strings, no inference: table_cells judges them).
// What Arrow does not say is where a fault lies, so a small walker over the same grammar reads the header
// and, only after a fault, finds the line again. Reading costs two passes over the bytes and some 50 ns a
// cell.
#include "slimbayes/data/table_csv.h"

#include <arrow/api.h>
#include <arrow/csv/api.h>
#include <arrow/io/api.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "slimbayes/data/table_cells.h"
#include "slimbayes/storage/error.h"

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

  std::optional<Record> next() {
    while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) end_line();
    if (at >= text.size()) return std::nullopt;
    Record record{line, {}};
    do record.fields.push_back(field(record.open_quote));
    while (at < text.size() && text[at] == delimiter && ++at);
    if (at < text.size()) end_line();
    return record;
  }

  void end_line() {
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ++at;
    ++at, ++line;
  }

  std::string field(bool& open_quote) {
    std::string out;
    bool inside = at < text.size() && text[at] == '"';
    for (at += inside; at < text.size(); ++at) {
      char c = text[at];
      if (inside && c == '"') {
        if (at + 1 < text.size() && text[at + 1] == '"')
          out += text[++at];
        else
          inside = false;
        continue;
      }
      if (!inside && (c == delimiter || c == '\n' || c == '\r')) return out;
      if (c == '\n') ++line;
      out += c;
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

std::vector<std::string> read_header(Walker& walker, const std::string& source) {
  std::optional<Record> header = walker.next();
  if (!header)
    throw DataError(source, "expected a header line and rows; received an empty file; check the path");
  if (header->open_quote)
    throw DataError(source, "expected a closing quote; received the end of the file; close it", header->line);
  std::vector<std::string> names;
  for (const std::string& field : header->fields) names.emplace_back(trimmed(field));
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

/// Names the first line that is no row of the table.
[[noreturn]] void throw_bad_record(Walker walker, size_t columns, const std::string& source,
                                   const arrow::Status& status) {
  bool first = true;
  for (std::optional<Record> record = walker.next(); record; record = walker.next(), first = false) {
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

arrow::Result<std::shared_ptr<arrow::Table>> cut_cells(std::string_view body, char delimiter,
                                                       const std::vector<std::string>& names, int64_t block) {
  auto read = arrow::csv::ReadOptions::Defaults();
  read.column_names = names;
  read.block_size = static_cast<int32_t>(std::min<int64_t>(block, INT32_MAX));
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.delimiter = delimiter;
  parse.newlines_in_values = body.find('"') != std::string_view::npos;
  auto convert = arrow::csv::ConvertOptions::Defaults();
  convert.check_utf8 = false;  // done
  for (const std::string& name : names) convert.column_types[name] = arrow::utf8();
  auto buffer = std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(body.data()), body.size());
  ARROW_ASSIGN_OR_RAISE(
      auto reader,
      arrow::csv::TableReader::Make(arrow::io::default_io_context(),
                                    std::make_shared<arrow::io::BufferReader>(buffer), read, parse, convert));
  return reader->Read();
}

std::vector<std::string_view> views(const arrow::ChunkedArray& column) {
  std::vector<std::string_view> out;
  out.reserve(static_cast<size_t>(column.length()));
  for (const auto& chunk : column.chunks()) {
    const auto& strings = static_cast<const arrow::StringArray&>(*chunk);
    for (int64_t i = 0; i < strings.length(); ++i) out.push_back(strings.GetView(i));
  }
  return out;
}

[[noreturn]] void throw_cell(Walker walker, const BadCell& bad, int64_t column, const std::string& source) {
  std::optional<Record> record = walker.next();
  for (int64_t row = 0; record && row < bad.row; ++row) record = walker.next();
  throw DataError(source, bad.what(), record ? record->line : bad.row + 2, column);
}

/// By its known kind, else by its cells.
Column column_of(const std::string& name, std::span<const std::string_view> cells, const Reading& reading) {
  if (std::ranges::find(reading.names, name) != reading.names.end())
    return column_of_kind(name, ColumnKind::categorical, cells);
  if (auto known = reading.kinds.find(name); known != reading.kinds.end())
    return column_of_kind(name, known->second, cells);
  try {
    return column_from_cells(name, cells, std::ranges::find(reading.numbers, name) == reading.numbers.end());
  } catch (const BadCell&) {
    bool unused = !reading.others_used || is_row_label(name) ||
                  std::ranges::find(reading.unused, name) != reading.unused.end();
    if (!unused) throw;
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
  else
    out += cell_text(column, value);
}

}  // namespace

Table parse_csv(std::string_view text, char delimiter, const std::string& source, const Reading& reading) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  check_text(text, source);
  Walker walker{text, delimiter};
  std::vector<std::string> names = read_header(walker, source);
  std::string_view body = text.substr(std::min(walker.at, text.size()));
  if (body.find_first_not_of("\r\n") == std::string_view::npos) {
    throw DataError(
        source, "expected rows below the header; received the header alone; check how the file was written");
  }
  auto cells = cut_cells(body, delimiter, names, 1 << 20);
  // A row longer than a block: take the file as one.
  if (!cells.ok() && cells.status().message().find("block") != std::string::npos) {
    cells = cut_cells(body, delimiter, names, static_cast<int64_t>(body.size()) + 1);
  }
  if (!cells.ok()) throw_bad_record(walker, names.size(), source, cells.status());
  Table table{source, {}, (*cells)->num_rows()};
  for (size_t c = 0; c < names.size(); ++c) {
    try {
      table.columns.push_back(column_of(names[c], views(*(*cells)->column(static_cast<int>(c))), reading));
    } catch (const BadCell& bad) {
      throw_cell(walker, bad, static_cast<int64_t>(c) + 1, source);
    }
  }
  return table;
}

std::string format_csv(const Table& table, char delimiter) {
  std::string out;
  for (const Column& column : table.columns) {
    if (!out.empty()) out += delimiter;
    append_text(out, column.name, delimiter);
  }
  out += '\n';
  for (int64_t row = 0; row < table.rows; ++row) {
    size_t start = out.size();
    for (size_t c = 0; c < table.columns.size(); ++c) {
      if (c > 0) out += delimiter;
      append_cell(out, table.columns[c], table.columns[c].values[static_cast<size_t>(row)], delimiter);
    }
    // An empty line would be skipped.
    if (out.size() == start) out += "\"\"";
    out += '\n';
  }
  return out;
}

}  // namespace slimbayes
