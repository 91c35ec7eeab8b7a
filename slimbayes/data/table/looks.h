#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slimbayes {

/// What the cells of a column of text may have been meant to be.
struct Meant {
  /// "numbers" (1,000 or $5 or 45%), "dates" (31.12.2021, Dec 2021) or "times" (8:30); "": none of these.
  std::string_view as = "";
  std::string example = "";  // the first cell that looks like it
};

/// Returns what at least the share `share` of the levels may have been meant to be.
Meant meant_as(std::span<const std::string> levels, double share = 0.9);

/// Returns the unit in a text that is a number with a unit after it ('144 km', '5kg', '-3 °C'): a word of at
/// most 12 bytes that begins with a letter or a sign beyond ASCII. "": the text is something else.
std::string_view unit_of(std::string_view cell);

/// Returns the first level that is a number with a unit if at least half of the levels, and three, are
/// numbers with this one unit; "" otherwise.
std::string with_common_unit(std::span<const std::string> levels);

/// Returns whether the text can be an item of --na within single quotes: at most 20 bytes, without commas,
/// quotes and control characters.
bool can_be_mark(std::string_view text);

/// Returns the levels that are no numbers, if these are at most two, can_be_mark() is true for each, and the
/// other levels are at least 20 numbers. They may be marks of missing cells in a column of numbers.
std::vector<std::string> among_numbers(std::span<const std::string> levels);

/// Returns pairs of levels that differ only by upper and lower case (ASCII) or by blanks: the first level
/// with this spelling, and each later one.
std::vector<std::pair<std::string, std::string>> lookalikes(std::span<const std::string> levels);

}  // namespace slimbayes
