// Notes on what looks odd in a column. The rules are chosen so that columns without errors hardly ever get a
// note. A check on 430 columns of published data sets gave two notes on a range (-9999 for a missing humidity
// and dew point) and two on row numbers. Random samples of 1,000 rows without any error get a note on their
// range in 0, 1 and 7 % of the cases if they are log-normal (sd of the logarithm 1, 2 and 3), and in 9 % if
// they are Cauchy.
#include "slimbayes/encoding/notes/column_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/looks.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/encoding/row_numbers.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

constexpr double kStretch = 10;   // odd values make the range more than this many times larger
constexpr size_t kFewValues = 3;  // most different values that are odd at one end of a range

/// A value near one end of a column's range.
struct Extreme {
  double value;
  int64_t row;        // the first row with this value
  int64_t cells = 1;  // number of cells with this value
};

/// Returns the five largest different values of sign * x over these rows, largest first. sign = -1 gives the
/// smallest values of x. Five suffice: at most three are odd, and two are needed to compare them with.
/// O(rows).
std::vector<Extreme> extremes(const Column& column, const std::vector<int64_t>& rows, double sign) {
  std::vector<Extreme> top;
  for (int64_t row : rows) {
    const double value = sign * column.values[static_cast<size_t>(row)];
    if (!std::isfinite(value) || (top.size() == kFewValues + 2 && value < top.back().value)) continue;
    const auto place = std::ranges::find_if(top, [&](const Extreme& e) { return e.value <= value; });
    if (place != top.end() && place->value == value) {
      ++place->cells;
      continue;
    }
    top.insert(place, {value, row});
    if (top.size() > kFewValues + 2) top.pop_back();
  }
  return top;
}

int64_t cells_of(const std::vector<Extreme>& top, size_t k) {
  int64_t cells = 0;
  for (size_t i = 0; i < k; ++i) cells += top[i].cells;
  return cells;
}

/// Returns how many of the largest values are odd: the smallest k for which the k-th largest value lies more
/// than kStretch times as far above `low` as the next one. Returns 0 if there is no such k. `top` is the
/// result of extremes(), `low` the other end of the range, and `cells` the number of all cells.
size_t stretching(const std::vector<Extreme>& top, double low, size_t cells) {
  const auto range = [&](size_t i) { return top[i].value - low; };
  for (size_t k = 1; k <= kFewValues && k < top.size() && range(k) > 0; ++k) {
    if (!(range(k - 1) > kStretch * range(k))) continue;
    // Whether the cells without the k largest values hold two values only: `low` and top[k].
    const bool last = k + 1 == top.size() || !(range(k + 1) > 0);
    // The next value stretches the remaining range again, as on a scale of powers (1, 100, 10000): then the k
    // largest values are not odd.
    if (!last && range(k) > kStretch * range(k + 1)) continue;
    if (last && k > 1) return 0;  // two odd values beside two others: a column of few values
    return 2 * cells_of(top, k) > static_cast<int64_t>(cells) ? 0 : k;
  }
  return 0;
}

std::string in_rows(const Table& table, const std::vector<Extreme>& top, size_t k) {
  int64_t first = top[0].row;
  for (size_t i = 0; i < k; ++i) first = std::min(first, top[i].row);
  const int64_t cells = cells_of(top, k);
  return cells == 1 ? row_place(table, first)
                    : fmt::format("{} cells, the first in {}", cells, row_place(table, first));
}

/// The extreme values at both ends of a column, and how many of them are odd (`odd_high`, `odd_low`). The
/// values at the low end are stored with the opposite sign, so that both lists begin with the most extreme
/// value.
struct Odd {
  std::vector<Extreme> high, low;
  size_t odd_high = 0, odd_low = 0;
};

Odd odd_cells(const Column& column, const std::vector<int64_t>& rows) {
  Odd odd;
  if (column.kind != ColumnKind::numeric && column.kind != ColumnKind::datetime) return odd;
  const auto cells = static_cast<size_t>(std::ranges::count_if(
      rows, [&](int64_t r) { return std::isfinite(column.values[static_cast<size_t>(r)]); }));
  odd.high = extremes(column, rows, 1);
  odd.low = extremes(column, rows, -1);
  // The odd cells at one end are found with the odd cells at the other end left out: if a column has both
  // -999 and 999, neither looks odd beside the other. For each number b of odd values at the low end, the
  // loop finds the number a at the high end, and checks that the low end without these a values has b odd
  // values again. It stops at the first such pair other than a = b = 0; if there is none, no cell is odd. If
  // both ends have odd cells, together they may be at most a tenth of all cells: otherwise cells of a column
  // with few different values would be called odd.
  for (size_t b = 0; odd.odd_high + odd.odd_low == 0 && b <= kFewValues && b < odd.low.size(); ++b) {
    const size_t a = stretching(odd.high, -odd.low[b].value, cells);
    const bool rare = a == 0 || b == 0 ||
                      10 * (cells_of(odd.high, a) + cells_of(odd.low, b)) <= static_cast<int64_t>(cells);
    if (rare && stretching(odd.low, -odd.high[a].value, cells) == b) odd.odd_high = a, odd.odd_low = b;
  }
  return odd;
}

/// Returns whether the times of a column never fall from row to row, and are not all the same.
bool rises(const Column& column) {
  const std::vector<double>& x = column.values;
  return column.kind == ColumnKind::datetime && !x.empty() && x.front() < x.back() &&
         std::ranges::all_of(x, [](double v) { return std::isfinite(v); }) && std::ranges::is_sorted(x);
}

}  // namespace

std::string stretching_cells(const Table& table, const Column& column, const std::vector<int64_t>& rows) {
  const Odd odd = odd_cells(column, rows);
  std::string text;
  for (const auto& [top, count, sign] :
       {std::tuple(&odd.high, odd.odd_high, 1.0), {&odd.low, odd.odd_low, -1.0}}) {
    if (count == 0) continue;
    text += text.empty() ? "" : ", ";
    for (size_t i = 0; i < count; ++i)
      text += (i == 0 ? "" : ", ") + cell_text(column, sign * (*top)[i].value);
    text += fmt::format(" ({})", in_rows(table, *top, count));
  }
  return text;
}

std::string range_note(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                       const std::string& whole) {
  const Odd odd = odd_cells(column, rows);
  if (odd.odd_high + odd.odd_low == 0) return "";
  const auto text = [&](double value) { return cell_text(column, value); };
  std::vector<std::string> values;
  for (size_t i = 0; i < odd.odd_high; ++i) values.push_back(text(odd.high[i].value));
  for (size_t i = 0; i < odd.odd_low; ++i) values.push_back(text(-odd.low[i].value));
  const bool one = values.size() == 1;
  const std::string marks = column.kind != ColumnKind::numeric
                                ? ""
                                : fmt::format(" (fit `.na` {} reads {} so, in every column)",
                                              fmt::join(values, ","), one ? "it" : "them");
  return fmt::format(
      "{}: {} {} the range, {} to {} without {}, more than tenfold: the other cells become hard to tell "
      "apart; leave {} empty if missing is meant{}, or remove {}",
      whole, stretching_cells(table, column, rows), one ? "stretches" : "stretch",
      text(-odd.low[odd.odd_low].value), text(odd.high[odd.odd_high].value), one ? "it" : "them",
      one ? "the cell" : "the cells", marks, one ? "the row" : "the rows");
}

std::string row_number_note(const Column& column) {
  const std::string name = in_quotes(column.name);
  if (rises(column))
    return fmt::format(
        "column {} rises from row to row and is an input: later rows will lie outside its range, where "
        "answers "
        "are a guess; `.ignore` {} leaves it out",
        name, name);
  if (!counts_rows(column)) return "";
  return fmt::format(
      "column {} looks like the numbers of the rows ({:.15g}, {:.15g}, {:.15g}, ...) and is an input: "
      "later rows will lie outside its range, where answers are a guess; `.ignore` {} leaves it out",
      name, column.values[0], column.values[1], column.values[2], name);
}

std::string rounded_note(const Column& column, const std::string& whole, const std::string& then) {
  if (column.large.empty()) return "";
  return fmt::format("{}: integers beyond 2^53 are rounded to 53 bits, {} (data row {}) to {:.0f}: {}", whole,
                     column.large, column.large_row + 1, parse_number(column.large).value_or(NAN), then);
}

std::string row_label_note(const Column& column) {
  if (!is_row_label(column.name))
    return fmt::format(
        "column {} numbers the rows ({:.15g}, {:.15g}, {:.15g}, ...): no input, because later rows lie "
        "outside its range; rename it in the table to use it",
        in_quotes(column.name), column.values[0], column.values[1], column.values[2]);
  return fmt::format("column {}{} holds row labels: no input; rename it in the table to use it",
                     in_quotes(column.name), column.name.starts_with("Unnamed") ? " (it has no name)" : "");
}

std::string padded_note(const Column& column) {
  if (column.kind != ColumnKind::numeric || column.words.empty()) return "";
  const std::string name = in_quotes(column.name);
  return fmt::format(
      "column {}: numbers with leading zeros ({}) are read as numbers; `.categorical` {} takes them as names",
      name, in_quotes(column.words[0]), name);
}

std::string grouped_note(const Column& column, const std::string& whole) {
  if (column.kind != ColumnKind::numeric || column.grouped.empty()) return "";
  std::string digits = column.grouped;
  std::erase(digits, '.');
  return fmt::format(
      "{}: its numbers with a point all have three digits behind it ({}), as where points separate "
      "thousands; "
      "if {} is meant, in a text file, fit `.thousands=.` `.decimal=,` reads it so",
      whole, in_quotes(column.grouped), digits);
}

std::string offset_note(const Column& column, std::optional<bool> trained) {
  const auto missing = [](double x) { return std::isnan(x); };
  if (!trained || column.kind != ColumnKind::datetime || *trained == column.offsets ||
      std::ranges::all_of(column.values, missing))
    return "";
  return fmt::format(
      "column {}: expected times {} an offset from UTC, as in training; received times {} one, read as UTC: "
      "{}",
      in_quotes(column.name), *trained ? "with" : "without", *trained ? "without" : "with",
      *trained ? "add the offset if they are local times"
               : "if those of training were local times, write these as local times too");
}

std::string mixed_offsets_note(const Column& column) {
  if (column.without_offset == 0) return "";
  return fmt::format(
      "column {}: {} of {} without an offset from UTC (the first in data row {}) beside others with one: "
      "read as UTC; give every time its offset",
      in_quotes(column.name), column.without_offset,
      counted(column.with_offset + column.without_offset, "time"), column.first_without + 1);
}

std::vector<std::string> category_notes(const std::vector<std::string>& levels, bool declared,
                                        const std::string& whole) {
  std::vector<std::string> notes;
  if (const Meant meant = meant_as(levels, 0.5); !meant.as.empty() && !declared) {
    const std::string advice =
        meant.as == "numbers" ? notation_advice(levels)
        : meant.as == "dates" ? "in a text file, fit `.date_format` names their format, such as '%d.%m.%Y'"
                              : "";
    notes.push_back(
        fmt::format("{}: its categories look like {} ({}): to have them on a scale, write them as {}{}{}",
                    whole, meant.as, in_quotes(meant.example),
                    meant.as == "dates"   ? "2021-03-31"
                    : meant.as == "times" ? "hours, such as 8.5"
                                          : "13000.5",
                    advice.empty() ? "" : "; ", advice));
  }
  if (const std::string example = with_common_unit(levels); !example.empty() && !declared) {
    notes.push_back(fmt::format(
        "{}: its categories look like numbers with a unit ({}): to have them on a scale, write them without",
        whole, in_quotes(example)));
  }
  if (const auto marks = among_numbers(levels); !marks.empty() && !declared) {
    notes.push_back(fmt::format(
        "{}: its categories are numbers but for '{}': if that marks missing cells, `.na` '{}' reads the "
        "column as numbers",
        whole, foreign_text(fmt::format("{}", fmt::join(marks, "' and '"))),
        foreign_text(fmt::format("{}", fmt::join(marks, ",")))));
  }
  const auto padded = std::ranges::find_if(levels, [](const std::string& level) { return is_padded(level); });
  const bool codes = std::ranges::all_of(levels, [](const std::string& level) {
    return level.find_first_not_of("0123456789") == std::string::npos;
  });
  if (codes && padded != levels.end() && !declared) {
    notes.push_back(fmt::format(
        "{}: leading zeros ({}) make names of its numbers, a category each; written without the zeros they "
        "are numbers (a target also by `.likelihood=gaussian`)",
        whole, in_quotes(*padded)));
  }
  const auto alike = lookalikes(levels);
  if (!alike.empty()) {
    notes.push_back(
        fmt::format("{}: {} and {}{} differ by case or blanks alone and are different categories: write them "
                    "alike if they are one",
                    whole, in_quotes(alike[0].first), in_quotes(alike[0].second),
                    alike.size() > 1 ? fmt::format(" (one of {} such pairs)", alike.size()) : ""));
  }
  return notes;
}

}  // namespace slimbayes
