// Reads delimited text (CSV, TSV).
//
// Arrow splits the text into cells and leaves them as strings; table/cells.h decides the kind of each column.
// The text is read in pieces of a megabyte. A column whose cells are all plain numbers is converted to
// doubles piece by piece. Every other column keeps its cells as text until all pieces are read. So the memory
// holds the text of the file, the doubles, and the cells of the other columns. If a column's first cell that
// is not a plain number comes after the first piece, its earlier text is gone, and the whole column is read a
// second time. Arrow does not say in which line an error is. CsvWalker, a small parser of the same grammar,
// reads the header and, after an error, finds its line.
#include "slimbayes/data/table/csv.h"

#include <arrow/api.h>
#include <arrow/csv/api.h>
#include <arrow/io/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

#include "slimbayes/data/table/cells.h"
#include "slimbayes/data/table/column_names.h"
#include "slimbayes/data/table/csv_faults.h"
#include "slimbayes/data/table/kept.h"
#include "slimbayes/data/table/pool.h"
#include "slimbayes/data/table/records.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

/// Returns the first character that another program may have put between columns, outside quotes, in a header
/// of one column; nullopt if there is none. As in the records, a quote has a meaning only if it begins the
/// cell.
std::optional<char> foreign_separator(std::string_view header) {
  header.remove_prefix(std::min(header.find_first_not_of("\r\n"), header.size()));
  const bool quoted = header.starts_with('"');
  bool inside = false;
  for (const char c : header) {
    if (quoted && c == '"') inside = !inside;
    if (!inside && (c == ',' || c == ';' || c == '\t' || c == '|')) return c;
  }
  return std::nullopt;
}

std::vector<std::string> read_header(CsvWalker& walker, const std::string& source, const TableBound& bound) {
  std::optional<CsvRecord> header = walker.next(bound.cell);
  if (!header)
    throw DataError(source, "expected a header line and rows; received an empty file; check the path");
  if (header->open_quote)
    throw DataError(source, "expected a closing quote; received the end of the file; close it", header->line);
  std::vector<std::string> names;
  for (const std::string& field : header->fields) {
    if (field.size() > bound.cell)
      throw DataError(source, "expected names of columns; received " + long_cell(bound) + "; " + kShorten,
                      header->line);
    names.emplace_back(trimmed(field));
  }
  const auto other = names.size() == 1 ? foreign_separator(walker.text.substr(0, walker.at)) : std::nullopt;
  if (other)
    throw DataError(
        source,
        fmt::format("expected columns separated by '{}'; received '{}' in the first line; use commas in a "
                    ".csv and tabs in a .tsv, and a point for decimals; put the name of a single column that "
                    "holds one in double quotes",
                    walker.delimiter == '\t' ? "\\t" : ",", *other == '\t' ? "\\t" : std::string(1, *other)),
        header->line);
  name_row_labels(names);
  check_names(names, source);
  return names;
}

uint64_t rows_at_most(std::string_view text) {
  return static_cast<uint64_t>(std::ranges::count(text, '\n') + std::ranges::count(text, '\r')) + 1;
}

/// Estimates the bytes of memory that reading takes outside Arrow's memory pool: the text of the file and a
/// double per cell. What Arrow allocates in the pool is counted there.
uint64_t bytes_to_read(std::string_view text, char delimiter) {
  const uint64_t cells = static_cast<uint64_t>(std::ranges::count(text, delimiter)) + rows_at_most(text);
  return text.size() + cells * sizeof(double);
}

/// The text below the header, with what is needed to cut it into cells and to report where a fault lies.
struct Body {
  std::string_view text;
  CsvWalker walker;  // at the first row below the header
  const std::vector<std::string>& names;
  const TableFile& file;
  TablePool& pool;
};

/// Cuts one piece of the text into cells and returns the columns named in `wanted`, as strings.
arrow::Result<std::shared_ptr<arrow::Table>> cut_cells(const Body& body, std::string_view piece,
                                                       const std::vector<std::string>& wanted) {
  auto read = arrow::csv::ReadOptions::Defaults();
  read.column_names = body.names;
  read.block_size = static_cast<int32_t>(std::min<size_t>(piece.size() + 1, INT32_MAX));
  read.use_threads = false;  // threads gain nothing, and the pool's std::bad_alloc could not leave one
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.delimiter = body.walker.delimiter;
  parse.newlines_in_values = piece.find('"') != std::string_view::npos;
  auto convert = arrow::csv::ConvertOptions::Defaults();
  convert.check_utf8 = false;  // check_text has done so
  convert.include_columns = wanted;
  // An empty field becomes null, a quoted "" an empty text: kept cells (Column::kept) must tell them apart.
  // All other spellings of a missing cell stay text here; cells.h reads them.
  convert.null_values = {""};
  convert.strings_can_be_null = true;
  convert.quoted_strings_can_be_null = false;
  for (const std::string& name : wanted) convert.column_types[name] = arrow::utf8();
  auto buffer = std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(piece.data()), piece.size());
  ARROW_ASSIGN_OR_RAISE(
      auto reader,
      arrow::csv::TableReader::Make(arrow::io::IOContext(&body.pool),
                                    std::make_shared<arrow::io::BufferReader>(buffer), read, parse, convert));
  return reader->Read();
}

/// Cuts one piece of the text and returns the cells of each column named in `wanted`. Throws DataError, with
/// the line of the fault, for text that Arrow cannot cut, and as TablePool::throw_shortage() for a lack of
/// memory.
arrow::ChunkedArrayVector cut(const Body& body, std::string_view piece,
                              const std::vector<std::string>& wanted) {
  try {
    auto cells = cut_cells(body, piece, wanted);
    body.pool.check(cells.status());
    if (!cells.ok())
      throw_bad_record(body.walker, body.names.size(), body.file.source, cells.status().message());
    return (*cells)->columns();
  } catch (const std::bad_alloc&) {
    body.pool.throw_shortage();
  }
}

/// Returns whether the last cell of the last column holds a line end. This suggests that a quote was never
/// closed: Arrow then takes all text up to the end of the file for one cell.
bool ends_in_lines(const arrow::ChunkedArrayVector& columns) {
  if (columns.empty() || columns.back()->length() == 0) return false;
  const auto& last = static_cast<const arrow::StringArray&>(*columns.back()->chunks().back());
  return last.length() > 0 && last.GetView(last.length() - 1).find_first_of("\r\n") != std::string_view::npos;
}

/// Returns a view of each cell of a column; an empty view for a cell that is one of `marks`, the texts of a
/// missing cell (Reading::missing). Throws BadCell for a cell longer than bound.cell. `first` is the row of
/// the first cell in the file, for that error.
std::vector<std::string_view> views(const arrow::ChunkedArray& column, const TableBound& bound, int64_t first,
                                    const std::vector<std::string>& marks) {
  std::vector<std::string_view> out;
  out.reserve(static_cast<size_t>(column.length()));
  for (const auto& chunk : column.chunks()) {
    const auto& strings = static_cast<const arrow::StringArray&>(*chunk);
    for (int64_t i = 0; i < strings.length(); ++i) {
      const std::string_view cell = strings.GetView(i);
      if (cell.size() > bound.cell)
        throw BadCell(first + std::ssize(out), "expected cells of a table; received " + long_cell(bound),
                      Remedies{.to_correct = kShorten});
      out.push_back(!marks.empty() && is_mark(trimmed(cell), marks) ? std::string_view() : cell);
    }
  }
  return out;
}

/// Returns whether a column may be read by PlainNumbers, as long as its cells are plain numbers: `reading`
/// neither gives it another kind than numeric nor asks to keep its cells.
bool may_be_numbers(const std::string& name, const Reading& reading) {
  const auto in = [&](const std::vector<std::string>& list) {
    return std::ranges::find(list, name) != list.end();
  };
  const auto known = reading.kinds.find(name);
  return !in(reading.names) && !in(reading.kept) &&
         (known == reading.kinds.end() || known->second == ColumnKind::numeric);
}

/// Returns the column of these cells, of the kind that `reading` gives it, or else of the kind that the cells
/// show.
Column column_of(const std::string& name, std::span<const std::string_view> cells, const Reading& reading) {
  if (std::ranges::find(reading.names, name) != reading.names.end())
    return column_of_kind(name, ColumnKind::categorical, cells);
  const auto in = [&](const std::vector<std::string>& list) {
    return std::ranges::find(list, name) != list.end();
  };
  const auto is_word = [](std::string_view raw) {
    const std::string_view cell = trimmed(raw);
    return is_missing(cell) || parse_boolean(cell);
  };
  if (auto known = reading.kinds.find(name); known != reading.kinds.end()) {
    const bool words = in(reading.bits) && std::ranges::all_of(cells, is_word);
    return column_of_kind(name, words ? ColumnKind::boolean : known->second, cells);
  }
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

/// The cells of all columns. A column of plain numbers is in `numbers`; the cells of any other column are in
/// `text`, as strings, and its entry of `numbers` is empty.
struct Cells {
  int64_t rows = 0;
  std::vector<std::optional<PlainNumbers>> numbers;
  std::vector<arrow::ArrayVector> text;
};

void append(arrow::ArrayVector& out, const arrow::ChunkedArray& cells) {
  out.insert(out.end(), cells.chunks().begin(), cells.chunks().end());
}

Cells read_cells(const Body& body) {
  const Reading& reading = body.file.reading;
  const std::vector<std::string>& names = body.names;
  const std::vector<std::string_view> pieces = csv_pieces(body.text, body.walker.delimiter);
  const uint64_t room = rows_at_most(body.text);
  Cells cells{0, {}, std::vector<arrow::ArrayVector>(names.size())};
  for (const std::string& name : names)
    cells.numbers.push_back(may_be_numbers(name, reading) ? std::optional(PlainNumbers(room)) : std::nullopt);
  std::vector<size_t> again;  // columns to read again: the text of earlier pieces is gone
  for (size_t p = 0; p < pieces.size(); ++p) {
    const arrow::ChunkedArrayVector columns = cut(body, pieces[p], names);
    // If a quote is never closed, Arrow makes one cell of all text after it. check_cells throws for this.
    if (p + 1 == pieces.size() && ends_in_lines(columns))
      check_cells(body.walker, body.file.bound, body.file.source);
    for (size_t c = 0; c < names.size(); ++c) {
      if (std::ranges::find(again, c) != again.end()) continue;
      if (cells.numbers[c]) {
        try {
          if (cells.numbers[c]->append(views(*columns[c], body.file.bound, cells.rows, reading.missing)))
            continue;
        } catch (const BadCell& bad) {
          throw_at(body.walker, {bad.row, static_cast<int64_t>(c) + 1}, body.file.source, bad.what());
        }
        cells.numbers[c].reset();
        if (p > 0) again.push_back(c);
        if (p > 0) continue;
      }
      append(cells.text[c], *columns[c]);
    }
    cells.rows += columns[0]->length();
  }
  std::vector<std::string> wanted;
  for (size_t c : again) wanted.push_back(names[c]);
  if (wanted.empty()) return cells;
  for (const std::string_view piece : pieces) {
    const arrow::ChunkedArrayVector columns = cut(body, piece, wanted);
    for (size_t i = 0; i < again.size(); ++i) append(cells.text[again[i]], *columns[i]);
  }
  return cells;
}

}  // namespace

Table parse_csv(std::string_view text, char delimiter, const TableFile& file) {
  const auto& [source, reading, bound] = file;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  check_text(text, source);
  CsvWalker walker{text, delimiter};
  std::vector<std::string> names = read_header(walker, source, bound);
  std::string_view body = text.substr(std::min(walker.at, text.size()));
  if (body.find_first_not_of("\r\n") == std::string_view::npos) {
    throw DataError(
        source, "expected rows below the header; received the header alone; check how the file was written");
  }
  const uint64_t beside = bytes_to_read(text, delimiter);
  bound.check(beside, source);
  const auto pool = std::make_shared<TablePool>(bound, beside, source);
  Cells cells = read_cells({body, walker, names, file, *pool});
  Table table{source, {}, cells.rows};
  std::vector<BadCell> bad;  // one report for each column with wrong cells
  int64_t first_bad = 0;     // the first such column, from 1
  for (size_t c = 0; c < names.size(); ++c) {
    if (cells.numbers[c]) {
      table.columns.push_back(std::move(*cells.numbers[c]).column(names[c]));
      continue;
    }
    // Moved into the loop, so that the text of each column is freed once its values are read.
    const auto text_cells = std::make_shared<arrow::ChunkedArray>(std::move(cells.text[c]), arrow::utf8());
    try {
      table.columns.push_back(column_of(names[c], views(*text_cells, bound, 0, reading.missing), reading));
    } catch (const BadCell& cell) {
      if (bad.empty()) first_bad = static_cast<int64_t>(c) + 1;
      bad.push_back(cell);
      continue;
    }
    if (std::ranges::find(reading.kept, names[c]) != reading.kept.end())
      table.columns.back().kept = kept_cells(text_cells, pool);
  }
  if (!bad.empty()) throw_at(walker, {bad[0].row, first_bad}, source, joined(bad));
  return table;
}

}  // namespace slimbayes
