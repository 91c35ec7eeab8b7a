#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "slimbayes/data/table.h"

namespace slimbayes {

/// Without blanks at either end, no-break spaces included.
std::string_view trimmed(std::string_view text);

/// One of the spellings of a missing cell; `cell` is trimmed.
bool is_missing(std::string_view cell);

/// A decimal number ('+', exponent, inf and nan included; '.' whatever the locale); nothing else may follow.
std::optional<double> parse_number(std::string_view cell);

/// true, false, yes, no, in lower, upper or title case.
std::optional<bool> parse_boolean(std::string_view cell);

/// ISO 8601: YYYY-MM-DD, then optionally T or a blank, HH:MM[:SS[.fraction]], and Z or +HH[:]MM. Seconds
/// since 1970-01-01 UTC; no zone means UTC.
std::optional<double> parse_datetime(std::string_view cell);

/// The first of the levels that reads as this number, boolean or time; -1 if none does.
int64_t level_like(std::span<const std::string> levels, ColumnKind kind, double value);

/// Whether no two of the levels read as one value of this kind, as 01 and 1.0 do.
bool tells_apart(std::span<const std::string> levels, ColumnKind kind);

/// Digits alone, more than one, the first a zero: 02139, not 0.5.
bool is_padded(std::string_view cell);

/// The inverse of parse_datetime, to the nanosecond; midnight is written as a date alone.
/// Throws std::invalid_argument outside the years 0 to 9999.
std::string format_datetime(double seconds);

/// In single quotes, cut at 40 characters, control characters replaced: for messages.
std::string in_quotes(std::string_view text);

/// The text of a cell, which must not be missing: the level of a category, a boolean as the file first
/// spells it, a date (format_datetime), or the shortest number that reads back as the same double.
std::string cell_text(const Column& column, double value);

}  // namespace slimbayes
