#include "slimbayes/encoding/row_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

namespace slimbayes {

namespace {

constexpr size_t kFewestCounted = 10;  // fewest rows of a column that can look like row numbers

/// Returns the words of a column name, in lower case: those of "order_no" and "OrderNo" are order, no.
std::vector<std::string> name_words(std::string_view name) {
  std::vector<std::string> words;
  bool open = false, was_lower = false;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    if (!open || (upper && was_lower)) words.emplace_back();
    open = upper || lower;
    was_lower = lower;
    if (open) words.back() += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

bool varies(const Column& column) {
  const auto known = [](double x) { return !std::isnan(x); };
  const auto first = std::ranges::find_if(column.values, known);
  return std::any_of(first, column.values.end(), [&](double x) { return known(x) && x != *first; });
}

}  // namespace

bool counts_rows(const Column& column) {
  const std::vector<double>& x = column.values;
  if (column.kind != ColumnKind::numeric || x.size() < kFewestCounted) return false;
  if (!std::ranges::all_of(x, [](double v) { return v == std::floor(v) && std::abs(v) < 9e15; }))
    return false;
  if (std::ranges::adjacent_find(x, std::greater_equal<>()) == x.end()) return true;
  if (std::ranges::adjacent_find(x, std::less_equal<>()) == x.end()) return true;
  const auto [low, high] = std::ranges::minmax(x);
  if (high - low >= 1.25 * static_cast<double>(x.size())) return false;
  std::vector<bool> seen(static_cast<size_t>(high - low) + 1);
  return std::ranges::all_of(x, [&, first = low](double v) {
    const auto place = static_cast<size_t>(v - first);
    return !seen[place] && (seen[place] = true);
  });
}

bool numbers_rows(const Column& column) {
  constexpr std::array kLabels = {"id", "ids", "uid", "rowid", "idx"};
  constexpr std::array kNumbers = {"no", "nr", "num", "number"};
  constexpr std::array kNumbered = {"row",  "record",  "line",   "entry", "order",  "invoice", "ticket",
                                    "case", "receipt", "serial", "batch", "sample", "customer"};
  const std::vector<std::string> words = name_words(column.name);
  const auto any_of = [&](const auto& known, size_t i) {
    return std::ranges::find(known, words[i]) != known.end();
  };
  bool label = words == std::vector<std::string>{"index"};
  for (size_t i = 0; i < words.size(); ++i)
    label = label || any_of(kLabels, i) || (i > 0 && any_of(kNumbers, i) && any_of(kNumbered, i - 1));
  return label && counts_rows(column);
}

std::vector<std::string> numbering_columns(const Table& table, const std::vector<std::string>& not_inputs) {
  std::vector<std::string> found;
  bool others = false;  // whether an input remains without them
  for (const Column& column : table.columns) {
    if (std::ranges::find(not_inputs, column.name) != not_inputs.end()) continue;
    if (numbers_rows(column))
      found.push_back(column.name);
    else
      others = others || (!is_row_label(column.name) && varies(column));
  }
  return others ? found : std::vector<std::string>{};
}

}  // namespace slimbayes
