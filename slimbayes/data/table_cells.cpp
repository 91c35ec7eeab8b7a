// From a cell's text to its value, and from a column's cells to its kind.
//
// Arrow's own inference turns a column of numbers with one word in it into a column of strings, silently; a
// model would then one-hot encode thousands of numbers. So every cell is read as text and judged here, by one
// rule for all files: all cells numbers: numeric; at least half of them: an error that names the first other
// cell; else booleans, dates, categories. One pass over the cells for numbers (std::from_chars, some 30 ns a
// cell), two more only for text.
#include "slimbayes/data/table_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Reads digits from the front of a text.
struct Digits {
  std::string_view rest;
  bool ok = true;

  int take(size_t count) {
    int value = 0;
    if (rest.size() < count) return ok = false, 0;
    for (char c : rest.substr(0, count)) {
      if (c < '0' || c > '9') return ok = false, 0;
      value = 10 * value + (c - '0');
    }
    rest.remove_prefix(count);
    return value;
  }
  bool accept(char c) {
    if (rest.empty() || rest[0] != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  void expect(char c) { ok = accept(c) && ok; }
};

/// [.fraction] of a second.
double take_fraction(Digits& in) {
  if (!in.accept('.')) return 0;
  size_t count = std::min(in.rest.find_first_not_of("0123456789"), in.rest.size());
  double value = 0;
  if (count == 0 || count > 18) return in.ok = false, 0;
  std::from_chars(in.rest.data(), in.rest.data() + count, value);
  in.rest.remove_prefix(count);
  return value / std::pow(10.0, static_cast<double>(count));
}

/// Seconds east of UTC: nothing, Z, +HH, +HHMM or +HH:MM.
int take_zone(Digits& in) {
  if (in.rest.empty() || in.accept('Z')) return 0;
  int sign = in.accept('-') ? -1 : 1;
  if (sign > 0) in.expect('+');
  int seconds = 3600 * in.take(2);
  if (in.rest.empty()) return sign * seconds;
  in.accept(':');
  return sign * (seconds + 60 * in.take(2));
}

/// What the cells of one column hold.
struct Count {
  int64_t numbers = 0, others = 0;
  int64_t first_other = -1, first_infinite = -1;
};

Count read_numbers(std::span<const std::string_view> cells, std::vector<double>& values) {
  Count count;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string_view cell = trimmed(cells[i]);
    values[i] = kMissing;
    if (cell.empty()) continue;
    if (std::optional<double> number = parse_number(cell)) {
      values[i] = *number;
      if (std::isnan(*number)) continue;
      ++count.numbers;
      if (std::isinf(*number) && count.first_infinite < 0) count.first_infinite = static_cast<int64_t>(i);
    } else if (!is_missing(cell)) {
      if (count.others++ == 0) count.first_other = static_cast<int64_t>(i);
    }
  }
  return count;
}

/// Parses every cell that is not missing; the row of the first that does not parse, else -1. `parsed` counts
/// the rest.
template <class Parse>
int64_t read_all(std::span<const std::string_view> cells, std::vector<double>& values, int64_t& parsed,
                 Parse parse) {
  int64_t first_bad = -1;
  parsed = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string_view cell = trimmed(cells[i]);
    values[i] = kMissing;
    if (is_missing(cell)) continue;
    if (auto value = parse(cell)) {
      values[i] = static_cast<double>(*value);
      ++parsed;
    } else if (first_bad < 0) {
      first_bad = static_cast<int64_t>(i);
    }
  }
  return first_bad;
}

void read_levels(std::span<const std::string_view> cells, Column& column) {
  std::unordered_map<std::string_view, double> index;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string_view cell = trimmed(cells[i]);
    column.values[i] = kMissing;
    if (is_missing(cell)) continue;
    auto [found, fresh] = index.try_emplace(cell, static_cast<double>(column.levels.size()));
    if (fresh) column.levels.emplace_back(cell);
    column.values[i] = found->second;
  }
}

[[noreturn]] void throw_text(const Column& column, int64_t row, std::string_view cell,
                             std::string_view what) {
  throw BadCell(
      row, fmt::format("expected {} in column {}, as in most of its cells; received {}; correct the cell, or "
                       "leave it empty if it is missing",
                       what, in_quotes(column.name), in_quotes(cell)));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view cell) {
  if (cell.size() > 4) return false;
  static constexpr std::array<std::string_view, 9> words = {"",     "NA",   "N/A",  "NaN", "nan",
                                                            "null", "NULL", "None", "?"};
  return std::find(words.begin(), words.end(), cell) != words.end();
}

std::optional<double> parse_number(std::string_view cell) {
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::invalid_argument || end != cell.data() + cell.size()) return std::nullopt;
  // Too large gives infinity, too small gives zero: from_chars does not say which.
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(cell).c_str(), nullptr);
  return value;
}

std::optional<bool> parse_boolean(std::string_view cell) {
  if (cell == "true" || cell == "True" || cell == "TRUE" || cell == "yes" || cell == "Yes" || cell == "YES")
    return true;
  if (cell == "false" || cell == "False" || cell == "FALSE" || cell == "no" || cell == "No" || cell == "NO")
    return false;
  return std::nullopt;
}

std::optional<double> parse_datetime(std::string_view cell) {
  namespace chrono = std::chrono;
  Digits in{cell};
  int year = in.take(4);
  in.expect('-');
  int month = in.take(2);
  in.expect('-');
  int day = in.take(2);
  chrono::year_month_day date{chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                              chrono::day(static_cast<unsigned>(day))};
  if (!in.ok || !date.ok()) return std::nullopt;
  double days = 86400.0 * static_cast<double>(chrono::sys_days(date).time_since_epoch().count());
  if (in.rest.empty()) return days;
  if (!in.accept(' ')) in.expect('T');
  int hour = in.take(2);
  in.expect(':');
  int minute = in.take(2);
  int second = 0;
  double fraction = 0;
  if (in.accept(':')) {
    second = in.take(2);
    fraction = take_fraction(in);
  }
  int zone = take_zone(in);
  if (!in.ok || !in.rest.empty() || hour > 24 || minute > 59 || second > 60) return std::nullopt;
  return days + 3600 * hour + 60 * minute + second - zone + fraction;
}

int64_t level_like(std::span<const std::string> levels, ColumnKind kind, double value) {
  for (size_t i = 0; i < levels.size(); ++i) {
    bool same = kind == ColumnKind::numeric   ? parse_number(levels[i]) == value
                : kind == ColumnKind::boolean ? parse_boolean(levels[i]) == (value != 0)
                                              : parse_datetime(levels[i]) == value;
    if (same) return static_cast<int64_t>(i);
  }
  return -1;
}

std::string format_datetime(double seconds) {
  namespace chrono = std::chrono;
  if (!(seconds >= -62167219200.0 && seconds < 253402300800.0)) {
    throw std::invalid_argument(fmt::format(
        "[format_datetime] expected a time in the years 0 to 9999; received {} seconds since 1970", seconds));
  }
  double whole = std::floor(seconds);
  int64_t nanos = std::llround((seconds - whole) * 1e9);
  if (nanos == 1000000000) whole += 1, nanos = 0;
  int64_t total = static_cast<int64_t>(whole);
  int64_t days = total / 86400 - (total % 86400 < 0 ? 1 : 0);
  int64_t clock = total - 86400 * days;
  chrono::year_month_day date{chrono::sys_days(chrono::days(days))};
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (clock == 0 && nanos == 0) return text;
  text += fmt::format("T{:02}:{:02}:{:02}", clock / 3600, clock / 60 % 60, clock % 60);
  if (nanos == 0) return text;
  text += fmt::format(".{:09}", nanos);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
  // Do not cut a UTF-8 character in two.
  while (text.size() > 40 && out.size() > 1 && static_cast<unsigned char>(out.back()) >= 0x80) out.pop_back();
  return out + (text.size() > 40 ? "...'" : "'");
}

/// Nothing where one of the two never comes: its spelling is not known.
void read_words(std::span<const std::string_view> cells, Column& column) {
  std::array<std::string, 2> words;
  for (size_t i = 0; i < cells.size() && (words[0].empty() || words[1].empty()); ++i) {
    if (std::isnan(column.values[i])) continue;
    std::string& word = words[column.values[i] != 0 ? 1 : 0];
    if (word.empty()) word = trimmed(cells[i]);
  }
  if (!words[0].empty() && !words[1].empty()) column.words = {words[0], words[1]};
}

Column column_from_cells(std::string name, std::span<const std::string_view> cells) {
  Column column{std::move(name), ColumnKind::numeric, std::vector<double>(cells.size()), {}};
  auto text = [&](int64_t row) { return trimmed(cells[static_cast<size_t>(row)]); };
  Count count = read_numbers(cells, column.values);
  if (count.others == 0) {
    if (count.first_infinite < 0) return column;
    throw BadCell(
        count.first_infinite,
        fmt::format(
            "expected finite numbers in column {}; received {}; correct the cell, or leave it empty if "
            "it is missing",
            in_quotes(column.name), in_quotes(text(count.first_infinite))));
  }
  if (count.numbers >= count.others)
    throw_text(column, count.first_other, text(count.first_other), "numbers");
  int64_t parsed = 0;
  column.kind = ColumnKind::boolean;
  if (read_all(cells, column.values, parsed, parse_boolean) < 0) {
    read_words(cells, column);
    return column;
  }
  column.kind = ColumnKind::datetime;
  int64_t bad = read_all(cells, column.values, parsed, parse_datetime);
  if (bad < 0) return column;
  if (2 * parsed >= count.numbers + count.others) throw_text(column, bad, text(bad), "ISO dates");
  column.kind = ColumnKind::categorical;
  read_levels(cells, column);
  return column;
}

void check_names(std::span<const std::string> names, const std::string& source) {
  if (names.empty())
    throw DataError(source, "expected named columns; received none; the first line names the columns");
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    int64_t column = static_cast<int64_t>(i) + 1;
    if (names[i].empty()) {
      throw DataError(source,
                      fmt::format("expected a name for every column; received an empty name for column {}; "
                                  "name it in the first line, or remove a trailing separator",
                                  column),
                      1, column);
    }
    if (!seen.insert(names[i]).second) {
      throw DataError(source,
                      fmt::format("expected column names that differ; received {} twice; rename one",
                                  in_quotes(names[i])),
                      1, column);
    }
  }
}

}  // namespace slimbayes
