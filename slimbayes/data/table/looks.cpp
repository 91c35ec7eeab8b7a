// Recognises texts that a human reader would take for numbers or dates in another notation, and words that
// differ in spelling alone, so that messages can point them out. Nothing is converted, because the meaning is
// ambiguous: 1,500 may be one and a half or fifteen hundred, and 1/2/2021 may be in January or February.
#include "slimbayes/data/table/looks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

constexpr const char* kWideBlank = "\u00a0";  // a no-break space

/// Returns whether points separate groups of three digits, perhaps before a decimal comma: 1.234.567,89.
bool has_points_for_thousands(std::string_view cell) {
  cell = cell.substr(0, cell.find(','));
  const size_t first = cell.find('.');
  if (first == 0 || first > 3 || std::ranges::count(cell, '.') < 2) return false;
  for (size_t at = first; at < cell.size(); at += 4) {
    if (cell[at] != '.' || cell.size() - at < 4 || cell.substr(at + 1, 3).find('.') != std::string_view::npos)
      return false;
  }
  return true;
}

/// Returns whether the cell is a number, perhaps with a currency, a per cent sign, thousands separators, a
/// decimal comma, or accountants' brackets for minus.
bool is_dressed_number(std::string_view cell) {
  std::string bare(cell);
  const auto strip = [&bare](std::string_view dress) {
    for (size_t at = bare.find(dress); at != std::string::npos; at = bare.find(dress))
      bare.erase(at, dress.size());
  };
  if (has_points_for_thousands(cell)) strip(".");
  for (const char* dress : {"$", "\u20ac", "\u00a3", "\u00a5", "USD", "EUR", "GBP", "CHF", "%", ",", " ", "'",
                            "\"", "(", ")", "\u2212", kWideBlank, "\u202f"})
    strip(dress);
  return !bare.empty() && parse_number(bare).has_value();
}

bool is_month(std::string_view word) {
  static constexpr std::string_view months = "jan feb mar apr may jun jul aug sep oct nov dec";
  if (word.size() < 3 || word.size() > 9) return false;
  std::string start(word.substr(0, 3));
  std::ranges::transform(start, start.begin(), [](unsigned char c) { return std::tolower(c); });
  const size_t at = months.find(start);
  return at != std::string_view::npos && at % 4 == 0;
}

/// Returns whether the cell is a date in another notation than ISO 8601: day, month and year in another
/// order, with other separators, or with the month's name. The year has two or four digits; a time of day and
/// a zone may follow. A month with a year of four digits is accepted too.
bool is_other_date(std::string_view cell) {
  if (parse_datetime(cell)) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  // The number of digits of each of day, month and year, in the order of the cell; 0 for the name of a month.
  std::array<size_t, 3> digits = {0, 0, 0};
  size_t parts = 0, named = 0;
  while (parts < 3 && !cell.empty()) {
    const bool number = is_digit(cell[0]);
    const auto end =
        number ? std::ranges::find_if_not(cell, is_digit) : std::ranges::find_if_not(cell, is_letter);
    const auto size = static_cast<size_t>(end - cell.begin());
    if (!number && !is_month(cell.substr(0, size))) return false;
    digits[parts++] = number ? size : 0;
    named += !number;
    cell.remove_prefix(size);
    if (parts < 3) cell.remove_prefix(std::min(cell.find_first_not_of("/., -"), cell.size()));
  }
  const auto day = [](size_t n) { return n <= 2; };  // may n digits be a day or a month?
  if (parts == 2)
    return cell.empty() && ((digits[0] == 4 && day(digits[1])) || (day(digits[0]) && digits[1] == 4));
  if (parts < 3 || named > 1 || (!cell.empty() && cell[0] != ' ' && cell[0] != 'T')) return false;
  const auto year = [](size_t n) { return n == 4 || n == 2; };
  return (year(digits[2]) && day(digits[0]) && day(digits[1])) ||
         (digits[0] == 4 && day(digits[1]) && day(digits[2]));
}

/// Returns whether the cell is a time of day: hours, minutes and perhaps seconds between colons, perhaps with
/// AM or PM.
bool is_clock(std::string_view cell) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const size_t colons = static_cast<size_t>(std::ranges::count(cell, ':'));
  return (colons == 1 || colons == 2) && is_digit(cell[0]) &&
         cell.find_first_not_of("0123456789:. AMPamp") == std::string_view::npos;
}

/// Returns the text in lower case (ASCII), with each run of blanks as one blank and no blanks at the ends.
/// Two texts that differ only by case or blanks have the same result.
std::string folded(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool wide = text.substr(at).starts_with(kWideBlank);
    at += wide ? 1 : 0;
    const bool blank = wide || std::isspace(static_cast<unsigned char>(text[at])) != 0;
    if (!blank) out += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

Meant meant_as(std::span<const std::string> levels, double share) {
  const auto first = [&](auto is) {
    const auto some = static_cast<double>(std::ranges::count_if(levels, is));
    const bool most = some > 0 && some >= share * static_cast<double>(levels.size());
    return most ? *std::ranges::find_if(levels, is) : std::string();
  };
  if (const std::string date = first(is_other_date); !date.empty()) return {"dates", date};
  if (const std::string time = first(is_clock); !time.empty()) return {"times", time};
  if (first(is_dressed_number).empty()) return {};
  const auto dressed = std::ranges::find_if(
      levels, [](const std::string& l) { return !parse_number(l) && is_dressed_number(l); });
  return dressed == levels.end() ? Meant{} : Meant{"numbers", *dressed};
}

std::string_view unit_of(std::string_view cell) {
  constexpr size_t kLongest = 12;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  // The cell must begin as a number does. Otherwise from_chars would read the "inf" of "information" as
  // infinity.
  if (cell.empty() || (!is_digit(cell[0]) && cell.find_first_of("+-.") != 0)) return "";
  if (cell[0] == '+') cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return "";
  const std::string_view unit = trimmed(cell.substr(static_cast<size_t>(end - cell.data())));
  if (unit.empty() || unit.size() > kLongest || unit.find(' ') != std::string_view::npos) return "";
  const auto first = static_cast<unsigned char>(unit[0]);
  // Only the last character of a unit may be a digit, as in m2.
  const bool digits = std::ranges::any_of(unit.substr(0, unit.size() - 1), is_digit);
  return (std::isalpha(first) != 0 || first >= 0x80) && !digits ? unit : "";
}

std::string with_common_unit(std::span<const std::string> levels) {
  constexpr int64_t kFewest = 3;
  const auto first = std::ranges::find_if(levels, [](const auto& l) { return !unit_of(l).empty(); });
  if (first == levels.end()) return "";
  const std::string_view unit = unit_of(*first);
  const auto count = std::ranges::count_if(levels, [&](const auto& l) { return unit_of(l) == unit; });
  return count >= kFewest && 2 * count >= std::ssize(levels) ? *first : "";
}

bool can_be_mark(std::string_view text) {
  constexpr size_t kLongest = 20;
  const auto is_odd = [](unsigned char c) { return c < 32 || c == ',' || c == '\''; };
  return text.size() <= kLongest && std::ranges::none_of(text, is_odd);
}

std::vector<std::string> among_numbers(std::span<const std::string> levels) {
  constexpr size_t kMost = 2, kFewestNumbers = 20;
  std::vector<std::string> others;
  for (const std::string& level : levels) {
    if (!parse_number(level)) others.push_back(level);
    if (others.size() > kMost) return {};
  }
  const bool marks = std::ranges::all_of(others, can_be_mark);
  return marks && levels.size() >= kFewestNumbers + others.size() ? others : std::vector<std::string>{};
}

std::vector<std::pair<std::string, std::string>> lookalikes(std::span<const std::string> levels) {
  std::unordered_map<std::string, size_t> seen;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < levels.size(); ++i) {
    const auto [found, fresh] = seen.try_emplace(folded(levels[i]), i);
    if (!fresh) pairs.emplace_back(levels[found->second], levels[i]);
  }
  return pairs;
}

}  // namespace slimbayes
