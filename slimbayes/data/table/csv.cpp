// Reads delimited text (CSV, TSV).
//
// Arrow's parser cuts the text into cells (table/records.h); table/cells.h decides the kind of each column.
// The text is read in pieces of a megabyte. A column whose cells are all plain numbers is converted to
// doubles piece by piece. Every other column keeps its cells as text until all pieces are read. So the memory
// holds the text of the file, the doubles, and the cells of the other columns. If a column's first cell that
// is not a plain number comes after the first piece, its earlier text is gone, and the whole column is read a
// second time. To find the line of a fault, the records before it are cut once more and counted.
#include "slimbayes/data/table/csv.h"

#include <arrow/api.h>
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
#include "slimbayes/storage/printable.h"

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

/// Returns the names of the columns. `header` has the header's record as its only one; `text` is the text of
/// the file up to the end of this record.
std::vector<std::string> read_header(const CsvRecords& header, std::string_view text, char delimiter,
                                     const TableFile& file) {
  const std::string& source = file.source;
  const int64_t line = line_at(text, 0);
  std::vector<std::string> names;
  for (int32_t c = 0; c < header.parser->num_cols(); ++c) {
    header.each(c, [&](std::string_view name, bool) {
      if (name.size() > file.bound.cell)
        throw DataError(
            source, "expected names of columns; received " + long_cell(file.bound) + "; " + kShorten, line);
      names.emplace_back(trimmed(name));
    });
  }
  const auto sign = [](char c) { return c == '\t' ? std::string("\\t") : std::string(1, c); };
  const auto other = names.size() == 1 ? foreign_separator(text) : std::nullopt;
  if (other)
    throw DataError(
        source,
        fmt::format("expected columns separated by '{}'; received '{}' in the first line; in a .csv, "
                    "fit `.separator={}` reads it; a .tsv has tabs; among commas, cells with a decimal comma "
                    "(fit `.decimal=,`) need quotes; put the name of a single column that "
                    "holds one in double quotes",
                    sign(delimiter), sign(*other), *other == '\t' ? "tab" : std::string(1, *other)),
        line);
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

/// The rows of a text, with what is needed to cut them into cells and to report where a fault lies.
struct Body {
  std::string_view text;  // of the whole file
  size_t begin;           // the first byte below the header
  char delimiter;
  CsvPieces cut;  // the rows
  std::vector<std::string> names;
  const TableFile& file;
  TablePool& pool;

  int32_t columns() const { return static_cast<int32_t>(names.size()); }
  size_t place(std::string_view part) const { return static_cast<size_t>(part.data() - text.data()); }
  int64_t line(size_t at) const { return line_at(text, at) + (at >= begin ? file.skipped : 0); }
};

/// Throws the error for a piece that cannot be cut into records of as many cells as the header has; returns
/// if it can.
void check(const Body& body, const CsvRecords& records) {
  if (records.status.ok()) return;
  body.pool.check(records.status);
  const std::string& source = body.file.source;
  if (!records.ragged)
    throw DataError(source, "expected delimited text; received what Arrow cannot read: " +
                                foreign_text(records.status.message()));
  const size_t at = body.place(records.ragged->text);
  const int32_t columns = body.columns(), cells = records.ragged->actual_columns;
  const bool labels = columns > 1 && cells == columns + 1 && body.line(body.begin) == body.line(at);
  throw DataError(
      source,
      fmt::format(
          "expected {} cells as in the header; received {}; add or remove separators, and put a cell that "
          "holds one in double quotes{}",
          columns, cells,
          labels ? "; if each row begins with a label, as R's write.table has them, begin the header with a "
                   "separator"
                 : ""),
      body.line(at));
}

/// The place of a cell below the header.
struct CellPlace {
  int64_t row;     // counted from 0
  int64_t column;  // counted from 1
};

/// Throws DataError with this message, the line on which the record of the cell begins, and the cell's
/// column.
[[noreturn]] void throw_at(const Body& body, const CellPlace& place, const std::string& message) {
  int64_t row = place.row;
  size_t at = body.begin;
  for (const std::string_view piece : body.cut.pieces) {
    if (row == 0) break;
    const int32_t most = static_cast<int32_t>(std::min<int64_t>(row, std::numeric_limits<int32_t>::max()));
    const CsvRecords before(piece, body.delimiter, body.pool, body.columns(), most);
    at = body.place(piece) + before.bytes;
    row -= before.parser->num_rows();
  }
  throw DataError(body.file.source, message, body.line(at), place.column);
}

/// Throws DataError for a cell longer than the bound allows.
void check_length(const Body& body, std::string_view cell, const CellPlace& place) {
  const TableBound& bound = body.file.bound;
  if (cell.size() > bound.cell)
    throw_at(body, place, "expected cells of a table; received " + long_cell(bound) + "; " + kShorten);
}

/// Returns the cell; an empty view if it is one of the texts of a missing cell (Reading::missing).
std::string_view unmarked(std::string_view cell, const Reading& reading) {
  const bool marked = !reading.missing.empty() && is_mark(trimmed(cell), reading.missing, reading.notation);
  return marked ? std::string_view() : cell;
}

/// Returns a view of each cell of a column (unmarked). `first` is the row of the first record in the file.
std::vector<std::string_view> views(const Body& body, const CsvRecords& records, int32_t column,
                                    int64_t first) {
  std::vector<std::string_view> out;
  out.reserve(static_cast<size_t>(records.parser->num_rows()));
  records.each(column, [&](std::string_view cell, bool) {
    check_length(body, cell, {first + std::ssize(out), column + 1});
    out.push_back(unmarked(cell, body.file.reading));
  });
  return out;
}

/// Returns a view of each cell of a column of text (unmarked).
std::vector<std::string_view> views(const arrow::ChunkedArray& column, const Reading& reading) {
  std::vector<std::string_view> out;
  out.reserve(static_cast<size_t>(column.length()));
  for (const auto& chunk : column.chunks()) {
    const auto& strings = static_cast<const arrow::StringArray&>(*chunk);
    for (int64_t i = 0; i < strings.length(); ++i) out.push_back(unmarked(strings.GetView(i), reading));
  }
  return out;
}

/// Returns a copy of the cells of a column, allocated from the pool. An empty cell becomes null, a quoted ""
/// an empty text: kept cells (Column::kept) must tell them apart. All other spellings of a missing cell stay
/// text here; cells.h reads them.
std::shared_ptr<arrow::Array> texts(const Body& body, const CsvRecords& records, int32_t column,
                                    int64_t first) {
  arrow::StringBuilder builder(&body.pool);
  arrow::Status failed = builder.Reserve(records.parser->num_rows());
  int64_t row = first;
  records.each(column, [&](std::string_view cell, bool quoted) {
    check_length(body, cell, {row++, column + 1});
    failed &= cell.empty() && !quoted ? builder.AppendNull() : builder.Append(cell);
  });
  std::shared_ptr<arrow::Array> out;
  failed &= builder.Finish(&out);
  body.pool.check(failed);
  if (!failed.ok()) throw std::runtime_error(body.file.source + ": " + failed.message());
  return out;
}

/// Returns whether a column may be read by PlainNumbers, as long as its cells are plain numbers: `reading`
/// neither gives it another kind than numeric, nor asks to keep its cells, nor has dates that look like
/// numbers.
bool may_be_numbers(const std::string& name, const Reading& reading) {
  const auto in = [&](const std::vector<std::string>& list) {
    return std::ranges::find(list, name) != list.end();
  };
  const auto known = reading.kinds.find(name);
  const bool perhaps_dates = size_of_dates(reading.notation) > 0;
  return !in(reading.names) && !in(reading.kept) &&
         (known == reading.kinds.end() ? !perhaps_dates : known->second == ColumnKind::numeric);
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
    return column_of_kind(name, words ? ColumnKind::boolean : known->second, cells, reading.notation);
  }
  if (in(reading.kept)) return column_of_kind(name, ColumnKind::categorical, cells);
  try {
    Column column = column_from_cells(name, cells, !in(reading.numbers), reading.notation);
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

Cells read_cells(const Body& body) {
  const std::vector<std::string_view>& pieces = body.cut.pieces;
  const uint64_t room = rows_at_most(body.text);
  Cells cells{0, {}, std::vector<arrow::ArrayVector>(body.names.size())};
  for (const std::string& name : body.names)
    cells.numbers.push_back(may_be_numbers(name, body.file.reading) ? std::optional(PlainNumbers(room))
                                                                    : std::nullopt);
  std::vector<int32_t> again;  // columns to read again: the text of earlier pieces is gone
  for (size_t p = 0; p < pieces.size(); ++p) {
    const CsvRecords records(pieces[p], body.delimiter, body.pool, body.columns());
    check(body, records);
    for (int32_t c = 0; c < body.columns(); ++c) {
      const auto at = static_cast<size_t>(c);
      if (std::ranges::find(again, c) != again.end()) continue;
      if (cells.numbers[at]) {
        if (cells.numbers[at]->append(views(body, records, c, cells.rows), body.file.reading.notation))
          continue;
        cells.numbers[at].reset();
        if (p > 0) again.push_back(c);
        if (p > 0) continue;
      }
      cells.text[at].push_back(texts(body, records, c, cells.rows));
    }
    cells.rows += records.parser->num_rows();
  }
  if (!body.cut.open.empty()) {
    // Its last cell is the open one; which column that is, is known only if no other cells are missing.
    const CsvRecords record(body.cut.open, body.delimiter, body.pool);
    const int32_t last = record.parser->num_cols();
    throw DataError(
        body.file.source,
        "expected a closing quote; received the end of the file; close the quote that opens in this row",
        body.line(body.place(body.cut.open)), last == body.columns() ? last : 0);
  }
  int64_t first = 0;
  for (size_t p = 0; p < pieces.size() && !again.empty(); ++p) {
    const CsvRecords records(pieces[p], body.delimiter, body.pool, body.columns());
    check(body, records);
    for (const int32_t c : again)
      cells.text[static_cast<size_t>(c)].push_back(texts(body, records, c, first));
    first += records.parser->num_rows();
  }
  return cells;
}

/// Returns the table of these cells. Throws DataError for wrong cells in columns that are needed.
Table table_of(const Body& body, Cells cells, const std::shared_ptr<TablePool>& pool) {
  const auto& [source, reading, bound, skipped, before] = body.file;
  Table table{source, {}, cells.rows};
  std::vector<BadCell> bad;  // one report for each column with wrong cells
  int64_t first_bad = 0;     // the first such column, from 1
  for (size_t c = 0; c < body.names.size(); ++c) {
    const std::string& name = body.names[c];
    if (cells.numbers[c]) {
      table.columns.push_back(std::move(*cells.numbers[c]).column(name));
      continue;
    }
    // Moved into the loop, so that the text of each column is freed once its values are read.
    const auto text_cells = std::make_shared<arrow::ChunkedArray>(std::move(cells.text[c]), arrow::utf8());
    try {
      table.columns.push_back(column_of(name, views(*text_cells, reading), reading));
    } catch (const BadCell& cell) {
      if (bad.empty()) first_bad = static_cast<int64_t>(c) + 1;
      bad.push_back(cell);
      continue;
    }
    if (std::ranges::find(reading.kept, name) != reading.kept.end())
      table.columns.back().kept = kept_cells(text_cells, pool);
  }
  if (!bad.empty()) throw_at(body, {bad[0].row, first_bad}, joined(bad, before));
  return table;
}

/// Finds the header and the rows of a text. Throws DataError if one of them is absent.
Body read_body(std::string_view text, char delimiter, const TableFile& file, TablePool& pool) {
  if (text.find_first_not_of("\r\n") == std::string_view::npos)
    throw DataError(file.source, "expected a header line and rows; received an empty file; check the path");
  Body body{text, 0, delimiter, csv_pieces(text, delimiter), {}, file, pool};
  if (body.cut.pieces.empty())
    throw DataError(file.source, "expected a closing quote; received the end of the file; close it",
                    line_at(text, 0));
  std::string_view& piece = body.cut.pieces[0];
  const CsvRecords header(piece, delimiter, pool, -1, 1);
  check(body, header);
  body.begin = body.place(piece) + header.bytes;
  body.names = read_header(header, text.substr(0, body.begin), delimiter, file);
  if (text.find_first_not_of("\r\n", body.begin) == std::string_view::npos) {
    throw DataError(
        file.source,
        "expected rows below the header; received the header alone; check how the file was written, or "
        "leave it out");
  }
  piece.remove_prefix(header.bytes);
  return body;
}

}  // namespace

Table parse_csv(std::string_view text, char delimiter, const TableFile& file) {
  const auto& [source, reading, bound, skipped, before] = file;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  check_text(text, source);
  const uint64_t beside = bytes_to_read(text, delimiter);
  bound.check(beside, source);
  const auto pool = std::make_shared<TablePool>(bound, beside, source);
  try {
    const Body body = read_body(text, delimiter, file, *pool);
    return table_of(body, read_cells(body), pool);
  } catch (const std::bad_alloc&) {
    pool->throw_shortage();
  }
}

}  // namespace slimbayes
