#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

// Notes to the user on what looks odd in a column before training. Each function reads the cells of one
// column and returns a sentence, or "" if nothing looks odd. The argument `whole` is the start of the
// sentence and names the column: "column 'x'" or "the target 'y'".

/// Returns a note that names the extreme cells which stretch the range of a numeric or date-time column over
/// these rows. Such a cell is usually a code for a missing value, such as 999999. Extreme cells are named
/// only if all of these hold:
/// - Without them, the range is more than ten times smaller.
/// - They hold at most three different values at each end of the range.
/// - They are at most half of all cells, or at most a tenth if both ends have such cells.
/// - The remaining cells have no such extremes in turn, as a column of 1, 100, 10000, ... would have.
/// O(rows).
std::string range_note(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                       const std::string& whole);

/// Returns only the list of cells in the sentence of range_note, such as "999999 (data row 17)"; "" if there
/// are none. O(rows).
std::string stretching_cells(const Table& table, const Column& column, const std::vector<int64_t>& rows);

/// Returns a note on a column that looks like row numbers (counts_rows), or one of times that never falls
/// from row to row. O(n).
std::string row_number_note(const Column& column);

/// Returns a note on integers beyond 2^53 (Column::large), which a double rounds. The note names the first of
/// them and the number that it is rounded to. `then` is the end of the sentence; it says what the rounding
/// means for the user.
std::string rounded_note(const Column& column, const std::string& whole, const std::string& then);

/// The argument `then` of rounded_note for a column of training rows: the consequence of the rounding.
inline constexpr const char* kRoundedAlike =
    "different ones may become equal; subtract a number in the table to keep their differences";

/// Returns a sentence that says that the column holds row labels (is_row_label) or numbers the rows
/// (numbers_rows) and is therefore not an input.
std::string row_label_note(const Column& column);

/// Returns a note on a numeric column in which some numbers have leading zeros, with the first of them
/// (Column::words) as an example; "" if none has.
std::string padded_note(const Column& column);

/// Returns a note on a numeric column whose points probably separate thousands (Column::grouped), as in
/// 4.757; "" for others.
std::string grouped_note(const Column& column, const std::string& whole);

/// Returns a note on a numeric column whose numbers look like codes, such as 1001, 1002, 1004, 1010, 2001,
/// rather than like amounts or ordered levels; "" otherwise. They look so if all of these hold:
/// - They are 3 to 30 different whole numbers, each in at least two rows and in ten on average.
/// - All have the same number of digits, three at least, and not all may be years or months (2024, 202403).
/// - Their range is at least three times their number, and they do not lie on a regular grid: their gaps
///   differ and have no common divisor above 4, as those of 128, 256, 512 and of 100, 250, 500 have.
/// O(rows).
std::string code_note(const Column& column, const std::vector<int64_t>& rows);

/// Returns a note if the times of this column give their offset from UTC (Z, +02:00) and those of training
/// did not, or the reverse. `trained` says whether the times of training gave it; if it is empty, this is not
/// known and "" is returned.
std::string offset_note(const Column& column, std::optional<bool> trained);

/// Returns a note if only some times of this column give their offset from UTC (Column::without_offset): the
/// others are read as UTC.
std::string mixed_offsets_note(const Column& column);

/// Returns notes on a column of categories that may be meant otherwise: as numbers, dates or times in a
/// notation that is not read, as numbers with a unit, as numbers with marks of missing cells among them, as
/// codes with leading zeros, or as one category in spellings that differ by case or blanks. `levels` are the
/// categories in use. If the user has declared that the column holds names (`declared`), only the last of
/// these is reported.
std::vector<std::string> category_notes(const std::vector<std::string>& levels, bool declared,
                                        const std::string& whole);

}  // namespace slimbayes
