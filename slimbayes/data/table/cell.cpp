// Converts a cell's text to its value and back.
#include "slimbayes/data/table/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <unordered_set>

#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

/// Reads numbers of fixed width and single characters from the front of a text. `rest` is the text not yet
/// read; `ok` becomes false when a part does not fit.
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

/// Reads the optional decimals of a second, such as .25, and returns them as a number; 0 if there are none.
double take_fraction(Digits& in) {
  if (!in.accept('.')) return 0;
  size_t count = std::min(in.rest.find_first_not_of("0123456789"), in.rest.size());
  double value = 0;
  if (count == 0 || count > 18) return in.ok = false, 0;
  std::from_chars(in.rest.data(), in.rest.data() + count, value);
  in.rest.remove_prefix(count);
  return value / std::pow(10.0, static_cast<double>(count));
}

/// Reads the offset of a time from UTC: nothing, Z, +HH, +HHMM or +HH:MM, or with '-'. Returns it in seconds,
/// positive east of UTC. An offset of more than 14 hours is an error, since no time zone has one.
int take_zone(Digits& in) {
  if (in.rest.empty() || in.accept('Z')) return 0;
  const int sign = in.accept('-') ? -1 : 1;
  if (sign > 0) in.expect('+');
  const int hours = in.take(2);
  if (!in.rest.empty()) in.accept(':');
  const int minutes = in.rest.empty() ? 0 : in.take(2);
  const int seconds = 3600 * hours + 60 * minutes;
  in.ok = in.ok && minutes < 60 && seconds <= 14 * 3600;
  return sign * seconds;
}

std::optional<double> read_as(std::string_view cell, ColumnKind kind) {
  if (kind == ColumnKind::numeric) return parse_number(cell);
  if (kind == ColumnKind::datetime) return parse_datetime(cell);
  const std::optional<bool> bit = parse_boolean(cell);
  return bit ? std::optional<double>(*bit ? 1.0 : 0.0) : std::nullopt;
}

/// Formats seconds since 1970-01-01 UTC in ISO 8601, rounded to `digits` decimals of the second and without
/// trailing zeros. Midnight is a date alone.
std::string datetime_text(double seconds, int digits) {
  namespace chrono = std::chrono;
  const double scale = std::pow(10.0, digits);
  double whole = std::floor(seconds), parts = std::round((seconds - whole) * scale);
  if (parts == scale) whole += 1, parts = 0;
  const auto total = static_cast<int64_t>(whole);
  const int64_t days = total / 86400 - (total % 86400 < 0 ? 1 : 0);
  const int64_t clock = total - 86400 * days;
  const chrono::year_month_day date{chrono::sys_days(chrono::days(days))};
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (clock == 0 && parts == 0) return text;
  text += fmt::format("T{:02}:{:02}:{:02}", clock / 3600, clock / 60 % 60, clock % 60);
  if (parts == 0) return text;
  text += fmt::format(".{:0{}}", static_cast<int64_t>(parts), digits);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  constexpr std::string_view wide = "\u00a0";  // a no-break space, as spreadsheets write it
  for (size_t before = 0; before != text.size();) {
    before = text.size();
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    if (text.starts_with(wide)) text.remove_prefix(wide.size());
    if (text.ends_with(wide)) text.remove_suffix(wide.size());
  }
  return text;
}

bool is_missing(std::string_view cell) {
  if (cell.size() > 4) return false;
  static constexpr std::array<std::string_view, 14> words = {
      "", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "null", "NULL", "None", "\\N", "?"};
  return std::find(words.begin(), words.end(), cell) != words.end();
}

bool is_mark(std::string_view cell, std::span<const std::string> marks) {
  const std::optional<double> number = is_padded(cell) ? std::nullopt : parse_number(cell);
  return std::ranges::any_of(marks, [&](const std::string& mark) {
    return cell == mark || (number && !is_padded(mark) && *number == parse_number(mark));
  });
}

std::optional<double> parse_number(std::string_view cell) {
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::invalid_argument || end != cell.data() + cell.size()) return std::nullopt;
  // Out of a double's range, from_chars does not say whether the number is too large or too small. strtod
  // returns infinity or (almost) zero.
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

std::optional<bool> parse_bit(std::string_view cell) {
  const std::optional<double> number = parse_number(cell);
  if (number && (*number == 0 || *number == 1)) return *number == 1;
  return parse_boolean(cell);
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
  const bool beyond = hour > 24 || (hour == 24 && (minute > 0 || second > 0 || fraction > 0));
  if (!in.ok || !in.rest.empty() || beyond || minute > 59 || second > 60) return std::nullopt;
  return days + 3600 * hour + 60 * minute + second - zone + fraction;
}

bool has_offset(std::string_view cell) {
  constexpr size_t kDate = 10;  // length of YYYY-MM-DD; its own '-' are not signs
  return cell.size() > kDate && cell.find_first_of("Z+-", kDate) != std::string_view::npos;
}

int64_t level_like(std::span<const std::string> levels, ColumnKind kind, double value) {
  auto found = std::ranges::find_if(levels, [&](const std::string& l) { return read_as(l, kind) == value; });
  return found == levels.end() ? -1 : found - levels.begin();
}

bool tells_apart(std::span<const std::string> levels, ColumnKind kind) {
  std::unordered_set<double> seen;
  return std::ranges::all_of(levels, [&](const std::string& level) {
    const std::optional<double> value = read_as(level, kind);
    return !value || seen.insert(*value).second;
  });
}

bool is_padded(std::string_view cell) {
  return cell.size() > 1 && cell[0] == '0' && cell.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string format_datetime(double seconds) {
  if (!(seconds >= -62167219200.0 && seconds < 253402300800.0)) {
    throw std::invalid_argument(fmt::format(
        "[format_datetime] expected a time in the years 0 to 9999; received {} seconds since 1970", seconds));
  }
  constexpr int kMostDigits = 9;
  std::string text = datetime_text(seconds, 0);
  for (int digits = 1; digits <= kMostDigits && parse_datetime(text) != seconds; ++digits)
    text = datetime_text(seconds, digits);
  return text;
}

std::string format_utc(double seconds) {
  const std::string text = format_datetime(seconds);
  return text + (text.find('T') == std::string::npos ? "T00:00:00Z" : "Z");
}

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string in_plain_quotes(std::string_view text) {
  std::string out = "'";
  for (char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
  if (text.size() <= 40) return out + "'";
  // If the cut lies within a UTF-8 character, the bytes of this character before the cut are removed. Every
  // byte of a character after its first has the bits 10xxxxxx.
  if ((static_cast<unsigned char>(text[40]) & 0xC0) == 0x80) {
    while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (out.size() > 1) out.pop_back();
  }
  return out + "...'";
}

std::string in_quotes(std::string_view text) { return foreign_text(in_plain_quotes(text)); }

std::string cell_text(const Column& column, double value) {
  switch (column.kind) {
    case ColumnKind::boolean:
      return column.words.empty() ? (value != 0 ? "true" : "false") : column.words[value != 0 ? 1 : 0];
    case ColumnKind::datetime:
      return format_datetime(value);
    case ColumnKind::categorical:
      return column.levels.at(static_cast<size_t>(value));
    default:
      return fmt::format("{}", value);
  }
}

}  // namespace slimbayes
