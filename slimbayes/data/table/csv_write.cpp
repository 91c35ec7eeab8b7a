// Writes a table as delimited text, and its rows as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/table/kept.h"

namespace slimbayes {
namespace {

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

/// Returns whether a date-time column holds a time other than midnight. If so, all its cells, midnight
/// included, must be written with a time of day, since other programs expect one format in a column.
bool holds_times_of_day(const Column& column) {
  constexpr double kDay = 86400;
  return column.kind == ColumnKind::datetime && std::ranges::any_of(column.values, [](double seconds) {
           return std::isfinite(seconds) && std::fmod(seconds, kDay) != 0;
         });
}

/// Returns the text of a time: with time of day and Z if the file of the column gave offsets from UTC, else
/// without Z. Without `with_time_of_day`, midnight is a date alone.
std::string time_text(const Column& column, double seconds, bool with_time_of_day) {
  if (!column.offsets && !with_time_of_day) return format_datetime(seconds);
  std::string text = format_utc(seconds);
  if (!column.offsets) text.pop_back();  // the Z
  return text;
}

void append_cell(std::string& out, const Column& column, double value, bool with_time_of_day,
                 char delimiter) {
  if (std::isnan(value)) return;
  if (column.kind == ColumnKind::boolean)
    out += value != 0 ? "true" : "false";
  else if (column.kind == ColumnKind::categorical)
    append_text(out, cell_text(column, value), delimiter);
  else if (column.kind == ColumnKind::datetime)
    out += time_text(column, value, with_time_of_day);
  else
    out += cell_text(column, value);
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Returns a number as JSON. `kept` is the text of its cell in the file, which may have digits that a double
/// does not hold; JSON does not allow all spellings of a number (007, .5), and another notation (1.234,5) may
/// look like another number.
std::string json_number(double value, const std::optional<std::string>& kept) {
  if (kept && nlohmann::json::accept(*kept) && parse_number(trimmed(*kept)) == value) return *kept;
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

/// Returns a cell as JSON. `kept`: its text in the file, if the column has that (Column::kept). A column that
/// is copied alone may have cells without a number, such as lists, which are texts here.
std::string json_cell(const Column& column, double value, const std::optional<std::string>& kept,
                      bool with_time_of_day) {
  if (std::isnan(value)) return kept && !is_missing(trimmed(*kept)) ? json_text(*kept) : "null";
  switch (column.kind) {
    case ColumnKind::numeric:
      return json_number(value, kept);
    case ColumnKind::boolean:
      return value != 0 ? "true" : "false";
    case ColumnKind::categorical:
      return json_text(kept ? *kept : cell_text(column, value));
    case ColumnKind::datetime:
      break;
  }
  return json_text(kept ? *kept : time_text(column, value, with_time_of_day));
}

/// Returns the cells of each column as the file has them (Column::kept), or nothing.
std::vector<std::optional<CellTexts>> kept_texts(const Table& table) {
  std::vector<std::optional<CellTexts>> kept;
  for (const Column& column : table.columns)
    kept.push_back(column.kept ? std::optional<CellTexts>(column.kept) : std::nullopt);
  return kept;
}

}  // namespace

std::string format_csv(const Table& table, char delimiter) {
  std::string out;
  std::vector<std::optional<CellTexts>> kept = kept_texts(table);
  std::vector<bool> times;
  for (const Column& column : table.columns) {
    if (!out.empty()) out += delimiter;
    append_text(out, column.name, delimiter);
    times.push_back(holds_times_of_day(column));
  }
  out += '\n';
  for (int64_t row = 0; row < table.rows; ++row) {
    size_t start = out.size();
    for (size_t c = 0; c < table.columns.size(); ++c) {
      if (c > 0) out += delimiter;
      if (!kept[c])
        append_cell(out, table.columns[c], table.columns[c].values[static_cast<size_t>(row)], times[c],
                    delimiter);
      else if (const std::optional<std::string> text = kept[c]->next())
        append_text(out, *text, delimiter);
    }
    // In a table of one column, a missing cell would give an empty line, which readers skip. It is written as
    // "", so that the row remains.
    if (out.size() == start) out += "\"\"";
    out += '\n';
  }
  return out;
}

void format_json_rows(const Table& table, const std::function<void(std::string_view)>& write) {
  constexpr size_t kPiece = size_t{1} << 16;
  std::vector<std::optional<CellTexts>> kept = kept_texts(table);
  std::vector<bool> times;
  std::vector<std::string> keys;
  for (const Column& column : table.columns) {
    times.push_back(holds_times_of_day(column));
    keys.push_back((keys.empty() ? "{" : ", ") + json_text(column.name) + ": ");
  }
  std::string piece;
  for (int64_t row = 0; row < table.rows; ++row) {
    for (size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      const std::optional<std::string> text = kept[c] ? kept[c]->next() : std::nullopt;
      piece += keys[c] + json_cell(column, column.values[static_cast<size_t>(row)], text, times[c]);
    }
    piece += row + 1 < table.rows ? "},\n" : "}\n";
    if (piece.size() >= kPiece) write(std::exchange(piece, ""));
  }
  write(piece);
}

}  // namespace slimbayes
