#include <algorithm>
#include <cmath>
#include <optional>

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

}  // namespace

std::string format_csv(const Table& table, char delimiter) {
  std::string out;
  std::vector<std::optional<CellTexts>> kept;
  std::vector<bool> times;
  for (const Column& column : table.columns) {
    if (!out.empty()) out += delimiter;
    append_text(out, column.name, delimiter);
    times.push_back(holds_times_of_day(column));
    kept.push_back(column.kept ? std::optional<CellTexts>(column.kept) : std::nullopt);
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

}  // namespace slimbayes
