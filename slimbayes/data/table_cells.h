#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "slimbayes/data/table.h"

namespace slimbayes {

/// A cell that spoils its column; the reader adds file, line and column.
struct BadCell : std::runtime_error {
  BadCell(int64_t bad_row, const std::string& message) : std::runtime_error(message), row(bad_row) {}
  int64_t row;
};

/// Without blanks at either end.
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

/// The inverse of parse_datetime, to the nanosecond; midnight is written as a date alone.
/// Throws std::invalid_argument outside the years 0 to 9999.
std::string format_datetime(double seconds);

/// In single quotes, cut at 40 characters, control characters replaced: for messages.
std::string in_quotes(std::string_view text);

/// Judges a column of text by its cells. Throws BadCell for an infinite number, and for text in a column
/// where at least half of the cells are numbers (or dates): that is a typing error far more often than a
/// category.
Column column_from_cells(std::string name, std::span<const std::string_view> cells);

/// Throws DataError for no columns, an empty name or a name that comes twice.
void check_names(std::span<const std::string> names, const std::string& source);

}  // namespace slimbayes
