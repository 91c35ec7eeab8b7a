#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Returns the text without blanks at either end; no-break spaces count as blanks.
std::string_view trimmed(std::string_view text);

/// Returns whether the cell is one of the spellings of a missing cell (read_table). `cell` is trimmed.
bool is_missing(std::string_view cell);

/// Returns whether the cell is one of the `marks` of a missing cell (Reading::missing): the same text, or the
/// same number in another spelling (-999.0 for -999). A code with leading zeros is a text. `cell` is trimmed.
bool is_mark(std::string_view cell, std::span<const std::string> marks);

/// Parses a decimal number: '+', exponent, inf and nan are accepted, '.' is the decimal point in every
/// locale. Returns nullopt if anything else follows.
std::optional<double> parse_number(std::string_view cell);

/// Parses true, false, yes or no, in lower, upper or title case.
std::optional<bool> parse_boolean(std::string_view cell);

/// Parses ISO 8601: YYYY-MM-DD, then optionally T or a blank, HH:MM[:SS[.fraction]], and Z or +HH[:]MM, at
/// most 14 hours. Returns seconds since 1970-01-01 UTC; a time without a zone is in UTC.
std::optional<double> parse_datetime(std::string_view cell);

/// Returns whether a time that parse_datetime reads gives its offset from UTC: Z or +08:00.
bool has_offset(std::string_view cell);

/// Returns the index of the first level that reads as this number, boolean or time; -1 if none does.
int64_t level_like(std::span<const std::string> levels, ColumnKind kind, double value);

/// Returns whether all levels differ when they are read as values of this kind. "01" and "1.0" do not: both
/// read as the number 1. Levels that are not values of this kind are ignored.
bool tells_apart(std::span<const std::string> levels, ColumnKind kind);

/// Returns whether the cell is a number with leading zeros: two or more digits alone, the first a zero
/// (02139, not 0.5).
bool is_padded(std::string_view cell);

/// Formats a time with the fewest digits from which parse_datetime reads it back, at most nine after the
/// second. Midnight is written as a date without a time. Throws std::invalid_argument outside the years 0 to
/// 9999.
std::string format_datetime(double seconds);

/// Returns a time as format_datetime does, with the time of day and Z: for columns that give offsets
/// (Column::offsets).
std::string format_utc(double seconds);

/// Returns a count with its noun: "1 row", "2 rows".
std::string counted(int64_t count, std::string_view noun);

/// Returns the text in single quotes for a message, cut after 40 bytes, with control characters replaced by
/// blanks.
std::string in_quotes(std::string_view text);

/// Returns the text of a cell, which must not be missing: the level of a category, a boolean as the file
/// first spells it, a date (format_datetime), or the shortest number that reads back as the same double.
std::string cell_text(const Column& column, double value);

}  // namespace slimbayes
