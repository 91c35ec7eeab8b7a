#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slimbayes {

/// What the texts of a categorical column were probably meant to be, although they cannot be read so.
struct Meant {
  /// "numbers" (1,000 or $5 or 45%), "dates" (31.12.2021, Dec 2021) or "times" (8:30); "": none of these.
  std::string_view as = "";
  std::string example = "";  // the first text in such a notation
};

/// Returns what at least the fraction `share` of the levels look like. Meant::as is "" if fewer look alike,
/// and if they look like numbers but all are written plainly (13000.5).
Meant meant_as(std::span<const std::string> levels, double share = 0.9);

/// Returns the unit in a text that is a number followed by a unit ("km" in '144 km', "kg" in '5kg', "°C" in
/// '-3 °C'). A unit is a word of at most 12 bytes that begins with a letter or a non-ASCII character. Returns
/// "" for any other text.
std::string_view unit_of(std::string_view cell);

/// Returns the first level that is a number with a unit, if at least three levels and at least half of all
/// are numbers with the same unit. Returns "" otherwise.
std::string with_common_unit(std::span<const std::string> levels);

/// Returns whether a message may propose this text for the option --na, which takes a comma-separated list of
/// texts of a missing cell: at most 20 bytes, without commas, single quotes and control characters.
bool can_be_mark(std::string_view text);

/// Returns the levels that are not numbers if they probably mark missing cells in a column of numbers: they
/// are at most two, can_be_mark() is true for each, and the other levels are at least 20 numbers. Otherwise
/// returns an empty list.
std::vector<std::string> among_numbers(std::span<const std::string> levels);

/// Finds levels that differ only by upper and lower case (ASCII) or by blanks, such as "Rome" and "rome ".
/// Returns a pair for each such level after the first: {the first level, this level}.
std::vector<std::pair<std::string, std::string>> lookalikes(std::span<const std::string> levels);

}  // namespace slimbayes
