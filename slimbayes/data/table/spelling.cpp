// Reads cells in the notation of a file. A number that is grouped wrongly is no number: 1,23 may be a decimal
// comma among separators of thousands, and the reader cannot know.
#include "slimbayes/data/table/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <clocale>
#include <ctime>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

/// Replaces other characters of the same meaning as the separator: no-break spaces for a blank, and the
/// typographic apostrophe.
void unify(std::string& text, char separator) {
  constexpr std::array<std::string_view, 2> kBlanks = {"\u00a0", "\u202f"};
  constexpr std::array<std::string_view, 1> kApostrophes = {"\u2019"};
  const auto replace = [&](std::string_view other) {
    for (size_t at = text.find(other); at != std::string::npos; at = text.find(other, at))
      text.replace(at, other.size(), 1, separator);
  };
  if (separator == ' ') std::ranges::for_each(kBlanks, replace);
  if (separator == '\'') std::ranges::for_each(kApostrophes, replace);
}

bool is_sign(char c) { return c == '+' || c == '-'; }

/// Appends the digits before the decimal sign to `out`, without separators. Returns false for a group that
/// has not three digits, but for the first, which has one to three and begins with no zero.
bool append_groups(std::string_view whole, char separator, std::string& out) {
  if (whole.find(separator) == std::string_view::npos) {
    out += whole;
    return true;
  }
  if (is_sign(whole[0])) {
    out += whole[0];
    whole.remove_prefix(1);
  }
  bool first = true;
  for (size_t at = 0; at <= whole.size(); first = false) {
    const size_t end = std::min(whole.find(separator, at), whole.size());
    const std::string_view group = whole.substr(at, end - at);
    const bool digits = group.find_first_not_of("0123456789") == std::string_view::npos;
    const bool fits = first ? !group.empty() && group.size() <= 3 && group[0] != '0' : group.size() == 3;
    if (!digits || !fits) return false;
    out += group;
    at = end + 1;
  }
  return true;
}

/// As size_of_dates(), of this format.
size_t size_of(std::string_view format) {
  size_t size = 0, signs = 0;
  for (size_t at = 0; at < format.size(); ++at) {
    const bool field = format[at] == '%';
    if (field && ++at == format.size()) return 0;
    if (!field && format[at] != '.' && format[at] != ',') return 0;
    if (field && std::string_view("YymdHMS").find(format[at]) == std::string_view::npos) return 0;
    signs += field ? 0 : 1;
    size += !field ? 1 : format[at] == 'Y' ? 4 : 2;
  }
  return signs < 2 ? size : 0;
}

/// Returns the time of a cell in this format, in seconds since 1970. strptime of the C library reads it, as
/// Arrow's parser does, which serving is without; in the "C" locale, whose month names are English. It takes
/// the 31st of every month, and a year of any number of digits.
std::optional<double> time_by_format(std::string_view cell, const std::string& format) {
  namespace chrono = std::chrono;
  constexpr int kFirstYear = 1000;
  static const locale_t english = newlocale(LC_ALL_MASK, "C", nullptr);
  std::array<char, 64> text{};  // ends with a zero
  if (cell.empty() || cell.size() >= text.size()) return std::nullopt;
  if (const size_t size = size_of(format); size > 0 && cell.size() != size) return std::nullopt;
  std::ranges::copy(cell, text.begin());
  std::tm parts{};
  parts.tm_mday = 1;
  if (strptime_l(text.data(), format.c_str(), &parts, english) != text.data() + cell.size())
    return std::nullopt;
  const chrono::year_month_day date{chrono::year(parts.tm_year + 1900),
                                    chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                    chrono::day(static_cast<unsigned>(parts.tm_mday))};
  if (!date.ok() || parts.tm_year + 1900 < kFirstYear || parts.tm_sec > 60) return std::nullopt;
  return 86400.0 * static_cast<double>(chrono::sys_days(date).time_since_epoch().count()) +
         3600 * parts.tm_hour + 60 * parts.tm_min + parts.tm_sec;
}

/// Returns whether the format reads a cell in ISO 8601 as another time.
bool contradicts_iso(const std::string& format) {
  constexpr std::array kCells = {"2001-02-03", "2001-02-03 04:05", "2001-02-03 04:05:06", "2001-02-03T04:05",
                                 "2001-02-03T04:05:06"};
  return std::ranges::any_of(kCells, [&](std::string_view cell) {
    const std::optional<double> time = time_by_format(cell, format);
    return time && time != parse_datetime(cell);
  });
}

struct Reads {
  Notation notation;
  const char* by;  // the options, for a message
};

const std::array<Reads, 6>& usual_notations() {
  static const std::array<Reads, 6> all = {{{{",", "."}, "`.thousands=,`"},
                                            {{"", ","}, "`.decimal=,`"},
                                            {{".", ","}, "`.thousands=.` `.decimal=,`"},
                                            {{" ", "."}, "`.thousands= `"},
                                            {{" ", ","}, "`.thousands= ` `.decimal=,`"},
                                            {{"'", "."}, "`.thousands='`"}}};
  return all;
}

}  // namespace

Notation notation_of(const FitOptions& o) { return {o.thousands, o.decimal, o.date_format, o.separator}; }

std::string_view plain_number(std::string_view cell, const Notation& notation, std::string& memory) {
  if (notation.plain_numbers()) return cell;
  const char separator = notation.thousands.empty() ? '\0' : notation.thousands[0];
  const char point = notation.decimal.empty() ? '.' : notation.decimal[0];
  std::string text(cell);
  unify(text, separator);
  const size_t end = std::min(text.find(point), text.size());
  const std::string_view whole = std::string_view(text).substr(0, end);
  const std::string_view decimals = std::string_view(text).substr(std::min(end + 1, text.size()));
  const auto has = [&](std::string_view part, char c) { return c != '\0' && part.find(c) != part.npos; };
  if (has(decimals, separator) || has(decimals, '.')) return "";
  if (point != '.' && separator != '.' && has(whole, '.')) return "";
  memory.clear();
  if (separator == '\0')
    memory += whole;
  else if (!append_groups(whole, separator, memory))
    return "";
  if (end < text.size()) memory += '.';
  memory += decimals;
  return memory;
}

std::optional<double> parse_number(std::string_view cell, const Notation& notation) {
  if (notation.plain_numbers()) return parse_number(cell);
  std::string memory;
  return parse_number(plain_number(cell, notation, memory));
}

std::optional<double> parse_datetime(std::string_view cell, const Notation& notation) {
  if (notation.date_format.empty()) return parse_datetime(cell);
  if (const auto time = time_by_format(cell, notation.date_format)) return time;
  const std::optional<double> iso = parse_datetime(cell);
  return iso && !contradicts_iso(notation.date_format) ? iso : std::nullopt;
}

char separator_of_csv(const Notation& notation) {
  return notation.separator == "tab" ? '\t' : notation.separator.empty() ? ',' : notation.separator[0];
}

size_t size_of_dates(const Notation& notation) { return size_of(notation.date_format); }

bool is_mark(std::string_view cell, std::span<const std::string> marks, const Notation& notation) {
  if (notation.plain_numbers()) return is_mark(cell, marks);
  const std::optional<double> number = is_padded(cell) ? std::nullopt : parse_number(cell, notation);
  return std::ranges::any_of(marks, [&](const std::string& mark) {
    return cell == mark || (number && !is_padded(mark) && number == parse_number(mark, notation));
  });
}

std::string numbers_text(const Notation& notation) {
  if (notation.plain_numbers()) return "numbers";
  return fmt::format("numbers such as 1{}234{}5", notation.thousands, notation.decimal);
}

std::string times_text(const Notation& notation) {
  constexpr const char* kIso = "ISO dates (2014-12-31 or 2014-12-31T23:00:00)";
  if (notation.date_format.empty()) return kIso;
  return fmt::format("dates of the format {}, or {}", in_quotes(notation.date_format), kIso);
}

void PerhapsGroups::add_fitting(std::string_view number) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!number.empty() && is_sign(number[0])) number.remove_prefix(1);
  const size_t point = std::min(number.find('.'), number.size());
  const std::string_view head = number.substr(0, point),
                         tail = number.substr(std::min(point + 1, number.size()));
  fits_ = !head.empty() && head.size() <= 3 && (head[0] != '0' || number == "0") &&
          std::ranges::all_of(head, is_digit) && std::ranges::all_of(tail, is_digit) &&
          tail.size() == (point < number.size() ? 3 : 0);
  if (!fits_) return;
  whole_ += tail.empty() ? 1 : 0;
  if (tail.empty()) return;
  if (pointed_++ == 0) first_ = number;
  round_ += tail.ends_with("00") ? 1 : 0;
  odd_ += tail.ends_with('0') || tail.ends_with('5') ? 0 : 1;
}

std::string PerhapsGroups::example() const {
  constexpr int64_t kLeast = 10, kLeastRound = 3;
  const bool round = round_ >= kLeastRound && 5 * round_ >= pointed_ && odd_ > 0;
  return fits_ && pointed_ >= kLeast && (whole_ > 0 || round) ? first_ : "";
}

std::string lost_number(std::span<const std::string> texts, const Notation& notation) {
  const auto lost = std::ranges::find_if(texts, [&](const std::string& text) {
    return parse_number(text).has_value() && !parse_number(text, notation);
  });
  const bool numbers =
      std::ranges::all_of(texts, [](const std::string& text) { return parse_number(text).has_value(); });
  return numbers && lost != texts.end() ? *lost : "";
}

std::string options_text(const Notation& notation) {
  std::string text;
  if (!notation.thousands.empty()) text = fmt::format("`.thousands={}`", notation.thousands);
  if (notation.decimal != ".")
    text += fmt::format("{}`.decimal={}`", text.empty() ? "" : " ", notation.decimal);
  return text;
}

std::string notation_advice(std::span<const std::string> texts) {
  std::vector<double> values;
  std::string advice;
  for (const Reads& usual : usual_notations()) {
    const Notation& notation = usual.notation;
    const auto reads = [&](const std::string& text) { return parse_number(text, notation).has_value(); };
    const auto example = std::ranges::find_if(
        texts, [&](const std::string& text) { return !parse_number(text) && reads(text); });
    if (example == texts.end() || 2 * std::ranges::count_if(texts, reads) < std::ssize(texts)) continue;
    const double value = *parse_number(*example, notation);
    if (std::ranges::find(values, value) != values.end()) continue;
    values.push_back(value);
    if (advice.empty())
      advice = fmt::format("in a text file, fit {} reads {} as {}", usual.by, in_quotes(*example), value);
    else
      advice += fmt::format(", {} as {}", usual.by, value);
  }
  return advice;
}

}  // namespace slimbayes
