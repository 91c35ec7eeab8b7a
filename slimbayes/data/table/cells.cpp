// Decides the kind of a text column from its cells, and reads its values.
//
// Arrow's own inference silently turns a column of numbers with one word in it into a column of strings; a
// model would then one-hot encode thousands of numbers. So every cell is read as text, and one rule for all
// files decides here. If all cells are numbers, the column is numeric, unless leading zeros show that they
// are codes. If at least half are numbers, the other cells are an error. Otherwise the column is boolean,
// datetime or categorical. A column of numbers takes one pass over its cells (std::from_chars, some 30 ns per
// cell); text takes at least one more.
#include "slimbayes/data/table/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

/// How many cells of a column are numbers and how many are other text; missing cells are not counted. Each
/// first_* is the first row, from 0, of a special case (-1: none).
struct Count {
  int64_t numbers = 0, others = 0;
  int64_t first_infinite = -1;
  int64_t padded = 0, first_padded = -1;  // numbers with leading zeros
  int64_t first_large = -1;               // first integer beyond 2^53
  PerhapsGroups groups = {};
};

constexpr double kLargestExact = 0x1p53;

/// Returns whether a cell, whose value as a double is `number`, is an integer (digits, perhaps after a sign)
/// beyond 2^53. At 2^53 itself the digits are compared, because 2^53 + 1 is read as the same double.
bool is_large(std::string_view cell, double number) {
  if (!(std::abs(number) >= kLargestExact)) return false;
  if (cell[0] == '+' || cell[0] == '-') cell.remove_prefix(1);
  if (cell.find_first_not_of("0123456789") != std::string_view::npos) return false;
  cell.remove_prefix(cell.find_first_not_of('0'));
  return cell != "9007199254740992";
}

Count read_numbers(std::span<const std::string_view> cells, const Notation& notation,
                   std::vector<double>& values) {
  Count count;
  std::string memory;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string_view cell = trimmed(cells[i]);
    values[i] = kMissing;
    if (cell.empty()) continue;
    const std::string_view plain = plain_number(cell, notation, memory);
    if (std::optional<double> number = parse_number(plain)) {
      values[i] = *number;
      if (std::isnan(*number)) continue;
      ++count.numbers;
      if (notation.plain_numbers()) count.groups.add(plain);
      if (std::isinf(*number) && count.first_infinite < 0) count.first_infinite = static_cast<int64_t>(i);
      if (is_padded(plain) && count.padded++ == 0) count.first_padded = static_cast<int64_t>(i);
      if (count.first_large < 0 && is_large(plain, *number)) count.first_large = static_cast<int64_t>(i);
    } else if (!is_missing(cell)) {
      ++count.others;
    }
  }
  return count;
}

/// Parses every cell that is not missing and stores its value in `values`. Sets `parsed` to the number of
/// cells that can be parsed. Returns the first row, from 0, that cannot, or -1 if there is none.
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

/// Returns the report on cells that are no numbers in this notation.
BadCell not_numbers(const std::string& column, std::span<const std::string_view> cells,
                    const Notation& notation, bool as_most_cells) {
  const auto is_number = [&](std::string_view cell) { return parse_number(cell, notation).has_value(); };
  const std::string what = numbers_text(notation);
  return wrong_cells(column, cells, {what, as_most_cells, is_number, true});
}

/// Returns the numeric column with Column::large and large_row set by `count`. Throws BadCell if a cell is an
/// infinite number.
Column finite(Column column, std::span<const std::string_view> cells, const Count& count,
              const Notation& notation) {
  std::string memory;
  column.grouped = count.groups.example();
  if (count.first_large >= 0) {
    column.large = plain_number(trimmed(cells[static_cast<size_t>(count.first_large)]), notation, memory);
    column.large_row = count.first_large;
  }
  if (count.first_infinite < 0) return column;
  const auto is_finite = [&](std::string_view cell) {
    const std::optional<double> number = parse_number(cell, notation);
    return number && std::isfinite(*number);
  };
  throw wrong_cells(column.name, cells, {"finite numbers", false, is_finite});
}

/// Returns whether a column of numbers holds codes, such as 02139: all cells are digits alone, some have
/// leading zeros, and either all have one length or most have leading zeros. So 05 among 7 and 12 is not a
/// code.
bool are_codes(std::span<const std::string_view> cells, const Count& count) {
  if (count.padded == 0) return false;
  const size_t length = trimmed(cells[static_cast<size_t>(count.first_padded)]).size();
  bool one_length = true;
  for (std::string_view raw : cells) {
    const std::string_view cell = trimmed(raw);
    if (is_missing(cell)) continue;
    if (cell.find_first_not_of("0123456789") != std::string_view::npos) return false;
    one_length = one_length && cell.size() == length;
  }
  return one_length || 2 * count.padded > count.numbers;
}

/// Returns the report on cells that are no times in this notation.
BadCell not_times(const std::string& column, std::span<const std::string_view> cells,
                  const Notation& notation, bool as_most_cells) {
  const auto is_time = [&](std::string_view cell) { return parse_datetime(cell, notation).has_value(); };
  const std::string what = times_text(notation);
  return wrong_cells(column, cells, {what, as_most_cells, is_time});
}

/// Sets Column::words of a boolean column, the first spellings of false and of true, from its cells and its
/// values. It stays empty unless both values occur.
void read_words(std::span<const std::string_view> cells, Column& column) {
  std::array<std::string, 2> words;
  for (size_t i = 0; i < cells.size() && (words[0].empty() || words[1].empty()); ++i) {
    if (std::isnan(column.values[i])) continue;
    std::string& word = words[column.values[i] != 0 ? 1 : 0];
    if (word.empty()) word = trimmed(cells[i]);
  }
  if (!words[0].empty() && !words[1].empty()) column.words = {words[0], words[1]};
}

/// Sets Column::offsets, with_offset, without_offset and first_without of a date-time column from its cells.
/// The last three are 0 unless some cells give an offset from UTC and others do not. A time of the notation's
/// date format gives none.
void count_offsets(std::span<const std::string_view> cells, const Notation& notation, Column& column) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (std::isnan(column.values[i])) continue;
    const std::string_view cell = trimmed(cells[i]);
    if (has_offset(cell) && (notation.date_format.empty() || parse_datetime(cell)))
      ++column.with_offset;
    else if (column.without_offset++ == 0)
      column.first_without = static_cast<int64_t>(i);
  }
  column.offsets = column.with_offset > 0;
  if (column.with_offset == 0 || column.without_offset == 0)
    column.with_offset = column.without_offset = column.first_without = 0;
}

}  // namespace

bool PlainNumbers::append(std::span<const std::string_view> cells, const Notation& notation) {
  std::string memory;
  for (const std::string_view raw : cells) {
    const std::string_view cell = trimmed(raw);
    const std::string_view plain = plain_number(cell, notation, memory);
    const std::optional<double> number = plain.empty() ? std::nullopt : parse_number(plain);
    if (!number && !is_missing(cell)) return false;
    if (number && (std::isinf(*number) || is_padded(plain) || is_large(plain, *number))) return false;
    values_.push_back(number.value_or(kMissing));
    if (notation.plain_numbers() && !std::isnan(values_.back())) groups_.add(plain);
  }
  return true;
}

Column PlainNumbers::column(std::string name) && {
  Column column{std::move(name), ColumnKind::numeric, std::move(values_), {}};
  column.grouped = groups_.example();
  return column;
}

Column column_from_cells(std::string name, std::span<const std::string_view> cells, bool codes,
                         const Notation& notation) {
  Column column{std::move(name), ColumnKind::numeric, std::vector<double>(cells.size()), {}};
  auto text = [&](int64_t row) { return trimmed(cells[static_cast<size_t>(row)]); };
  int64_t parsed = 0;
  const auto parse_time = [&](std::string_view cell) { return parse_datetime(cell, notation); };
  if (size_of_dates(notation) > 0 && read_all(cells, column.values, parsed, parse_time) < 0 && parsed > 0) {
    column.kind = ColumnKind::datetime;
    count_offsets(cells, notation, column);
    return column;
  }
  Count count = read_numbers(cells, notation, column.values);
  if (codes && count.others == 0 && are_codes(cells, count)) {
    column.kind = ColumnKind::categorical;
    read_levels(cells, column);
    return column;
  }
  if (count.others == 0) {
    if (count.padded > 0) column.words = {std::string(text(count.first_padded))};
    return finite(std::move(column), cells, count, notation);
  }
  if (count.numbers >= count.others) throw not_numbers(column.name, cells, notation, true);
  column.kind = ColumnKind::boolean;
  if (read_all(cells, column.values, parsed, parse_boolean) < 0) {
    read_words(cells, column);
    return column;
  }
  column.kind = ColumnKind::datetime;
  if (read_all(cells, column.values, parsed, parse_time) < 0) {
    count_offsets(cells, notation, column);
    return column;
  }
  if (2 * parsed >= count.numbers + count.others) throw not_times(column.name, cells, notation, true);
  column.kind = ColumnKind::categorical;
  read_levels(cells, column);
  return column;
}

Column column_of_kind(std::string name, ColumnKind kind, std::span<const std::string_view> cells,
                      const Notation& notation) {
  Column column{std::move(name), kind, std::vector<double>(cells.size()), {}};
  if (kind == ColumnKind::categorical) {
    read_levels(cells, column);
    return column;
  }
  int64_t parsed = 0;
  if (kind == ColumnKind::numeric) {
    const Count count = read_numbers(cells, notation, column.values);
    if (count.others > 0) throw not_numbers(column.name, cells, notation, false);
    return finite(std::move(column), cells, count, notation);
  }
  if (kind == ColumnKind::boolean) {
    const auto is_bit = [](std::string_view cell) { return parse_bit(cell).has_value(); };
    if (read_all(cells, column.values, parsed, parse_bit) >= 0)
      throw wrong_cells(column.name, cells, {"yes or no", false, is_bit});
    read_words(cells, column);
    return column;
  }
  const auto parse_time = [&](std::string_view cell) { return parse_datetime(cell, notation); };
  if (read_all(cells, column.values, parsed, parse_time) >= 0)
    throw not_times(column.name, cells, notation, false);
  count_offsets(cells, notation, column);
  return column;
}

bool is_needed(const Reading& reading, const std::string& name) {
  const auto in = [&](const std::vector<std::string>& list) {
    return std::ranges::find(list, name) != list.end();
  };
  if (in(reading.names) || reading.kinds.contains(name)) return true;
  return reading.others_used && !is_row_label(name) && !in(reading.unused);
}

void check_finite(Column& column, bool needed, const std::string& source, int64_t rows_before) {
  for (size_t i = 0; i < column.values.size(); ++i) {
    if (!std::isinf(column.values[i])) continue;
    if (needed) {
      throw DataError(
          source,
          fmt::format("expected finite numbers in column {}; received {} in row {}; remove the row or make "
                      "the cell null",
                      in_quotes(column.name), column.values[i], rows_before + static_cast<int64_t>(i) + 1));
    }
    column.values[i] = kMissing;
  }
}

Column as_categorical(const Column& column) {
  std::vector<std::string> texts;
  for (double value : column.values)
    texts.push_back(std::isnan(value) ? std::string() : cell_text(column, value));
  const std::vector<std::string_view> cells(texts.begin(), texts.end());
  return column_of_kind(column.name, ColumnKind::categorical, cells);
}

Column without_marks(Column column, std::span<const std::string> marks) {
  if (marks.empty()) return column;
  if (column.kind == ColumnKind::numeric) {
    for (const std::string& mark : marks) {
      const std::optional<double> number = is_padded(mark) ? std::nullopt : parse_number(mark);
      if (!number) continue;
      std::ranges::replace(column.values, *number, kMissing);
      // A column of float32 holds the float nearest to the mark: 0.1f for 0.1, which is another double.
      std::ranges::replace(column.values, static_cast<double>(static_cast<float>(*number)), kMissing);
    }
  }
  if (column.kind != ColumnKind::categorical) return column;
  std::vector<double> places;  // new index of each level; kMissing if it is removed
  std::vector<std::string> kept;
  for (std::string& level : column.levels) {
    const bool stays = !is_mark(trimmed(level), marks);
    places.push_back(stays ? static_cast<double>(kept.size()) : kMissing);
    if (stays) kept.push_back(std::move(level));
  }
  for (double& value : column.values) {
    if (!std::isnan(value)) value = places[static_cast<size_t>(value)];
  }
  column.levels = std::move(kept);
  return column;
}

}  // namespace slimbayes
