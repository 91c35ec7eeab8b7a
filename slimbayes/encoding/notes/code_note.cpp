// The note on numbers that are codes. On 433 numeric columns of the public data sets of the experiments, 39
// of which hold 3 to 30 different whole numbers, it is given on none.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/notes/column_notes.h"

namespace slimbayes {
namespace {

constexpr size_t kFewestCodes = 3, kMostCodes = 30;
constexpr int64_t kCellsPerCode = 10;  // fewest cells of a code, on average
constexpr double kLowestCode = 100;    // codes have three digits at least
constexpr double kLargestCode = 1e15;  // larger ones are not exact
constexpr int64_t kLeastSpread = 3;    // a code lies in a range of at least so many times their number
constexpr int64_t kCoarsestGrid = 4;   // numbers on a coarser grid are amounts

/// Returns how many cells hold each whole number; nothing if other numbers are among the cells, or more than
/// kMostCodes different ones.
std::map<int64_t, int64_t> cells_by_whole_number(const Column& column, const std::vector<int64_t>& rows) {
  std::map<int64_t, int64_t> cells;
  for (const int64_t row : rows) {
    const double value = column.values[static_cast<size_t>(row)];
    if (std::isnan(value)) continue;
    if (value < kLowestCode || value > kLargestCode || value != std::floor(value)) return {};
    ++cells[static_cast<int64_t>(value)];
    if (cells.size() > kMostCodes) return {};
  }
  return cells;
}

/// Returns whether a number may be a year, or a year and a month as in 202403.
bool may_be_a_year(int64_t number) {
  const auto is_year = [](int64_t x) { return x >= 1800 && x <= 2100; };
  return is_year(number) || (is_year(number / 100) && number % 100 >= 1 && number % 100 <= 12);
}

/// Returns whether these different numbers, in ascending order, look like codes by the rule of code_note.
bool look_like_codes(const std::vector<int64_t>& numbers) {
  if (std::to_string(numbers.front()).size() != std::to_string(numbers.back()).size()) return false;
  if (std::ranges::all_of(numbers, may_be_a_year)) return false;
  const int64_t range = numbers.back() - numbers.front() + 1;
  if (range < kLeastSpread * std::ssize(numbers)) return false;
  int64_t grid = 0;
  for (size_t i = 1; i < numbers.size(); ++i) grid = std::gcd(grid, numbers[i] - numbers[i - 1]);
  return grid <= kCoarsestGrid && grid * (std::ssize(numbers) - 1) != numbers.back() - numbers.front();
}

}  // namespace

std::string code_note(const Column& column, const std::vector<int64_t>& rows) {
  if (column.kind != ColumnKind::numeric || !column.words.empty()) return "";
  const std::map<int64_t, int64_t> cells = cells_by_whole_number(column, rows);
  if (cells.size() < kFewestCodes) return "";
  std::vector<int64_t> numbers;
  int64_t all = 0, rarest = kCellsPerCode;
  for (const auto& [number, count] : cells) {
    numbers.push_back(number);
    all += count;
    rarest = std::min(rarest, count);
  }
  if (rarest < 2 || all < kCellsPerCode * std::ssize(numbers) || !look_like_codes(numbers)) return "";
  const std::string name = in_quotes(column.name);
  return fmt::format(
      "column {} holds {} different whole numbers ({}, {}, {}{}), taken as amounts; if they are codes, "
      "`.categorical` {}",
      name, numbers.size(), numbers[0], numbers[1], numbers[2], numbers.size() > 3 ? ", ..." : "", name);
}

}  // namespace slimbayes
