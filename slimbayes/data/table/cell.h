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

/// Returns whether the cell is one of the texts that mean a missing cell in every table: the empty text, NA,
/// null, ? and others (listed at read_table). `cell` must be trimmed.
bool is_missing(std::string_view cell);

/// Returns whether the cell is one of `marks`, the texts that the user declared to mean a missing cell
/// (Reading::missing). A cell equals a mark if it is the same text, or the same number in another spelling
/// (-999.0 for -999). Digits with leading zeros (007) are compared as text only. `cell` must be trimmed.
bool is_mark(std::string_view cell, std::span<const std::string> marks);

/// Parses a decimal number. A sign, an exponent, inf and nan are accepted; '.' is the decimal point in every
/// locale. Returns nullopt unless the whole cell is a number.
std::optional<double> parse_number(std::string_view cell);

/// Parses true, false, yes or no, in lower, upper or title case. Returns nullopt for any other text.
std::optional<bool> parse_boolean(std::string_view cell);

/// Parses a cell of a column that is known to hold yes and no: the numbers 1 and 0, and what parse_boolean
/// accepts.
std::optional<bool> parse_bit(std::string_view cell);

/// Parses a date or a time in ISO 8601: YYYY-MM-DD, or the date, T or a blank, HH:MM[:SS[.fraction]] and
/// perhaps the offset from UTC: Z or +HH[[:]MM], at most 14 hours. Returns seconds since 1970-01-01 UTC; a
/// time without an offset is taken as UTC. Returns nullopt for any other text.
std::optional<double> parse_datetime(std::string_view cell);

/// Returns whether the cell, which must be a time that parse_datetime reads, gives its offset from UTC (Z or
/// +08:00).
bool has_offset(std::string_view cell);

/// Returns the index of the first level whose text, read as a number, boolean or time (`kind`), equals
/// `value`; -1 if there is none. Use it to find the category of a value that a second file stores with
/// another type, such as the level "1.0" for the number 1.
int64_t level_like(std::span<const std::string> levels, ColumnKind kind, double value);

/// Returns whether all levels still differ when they are read as numbers, booleans or times (`kind`). Returns
/// false for "01" and "1.0", which both read as the number 1. Levels that cannot be read so are ignored.
bool tells_apart(std::span<const std::string> levels, ColumnKind kind);

/// Returns whether the cell is a number with leading zeros: two or more digits alone, the first a zero
/// (02139, not 0.5).
bool is_padded(std::string_view cell);

/// Formats seconds since 1970-01-01 UTC in ISO 8601 without an offset. It writes the fewest decimals of the
/// second, at most nine, from which parse_datetime reads the same time. Midnight is written as a date without
/// a time of day. Throws std::invalid_argument outside the years 0 to 9999.
std::string format_datetime(double seconds);

/// Formats a time as format_datetime does, but always with the time of day and with a Z for UTC at the end.
/// Use it for columns whose file gives offsets from UTC (Column::offsets).
std::string format_utc(double seconds);

/// Returns a count with its noun: "1 row", "2 rows".
std::string counted(int64_t count, std::string_view noun);

/// Returns the text in single quotes, cut after 40 bytes, with control characters replaced by blanks. For
/// facts, charts and pages, whose texts are shown as they are.
std::string in_plain_quotes(std::string_view text);

/// As in_plain_quotes(), but for an exception or a note: escaped by foreign_text() (storage/printable.h).
std::string in_quotes(std::string_view text);

/// Returns the text of a cell of `column` with this value, which must not be missing: the name of a category,
/// a boolean as the file first spells it, a time (format_datetime), or the shortest number that reads back as
/// the same double.
std::string cell_text(const Column& column, double value);

}  // namespace slimbayes
