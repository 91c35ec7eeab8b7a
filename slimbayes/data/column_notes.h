#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

// Notes on what looks odd in a column before training. Each function reads the cells of the column only, and
// returns a sentence, or "" if nothing looks odd. `whole` names the column at the start of the sentence:
// "column 'x'" or "the target 'y'".

/// Names the extreme cells that stretch the range of a numeric or date-time column over these rows. Such a
/// cell is usually a code for a missing value, such as 999999. Cells are named if they hold at most three
/// different values at an end, are at most half of all cells (at most a tenth if both ends have such cells),
/// the range shrinks more than tenfold without them, and the remaining cells do not have such extremes in
/// turn. O(rows).
std::string range_note(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                       const std::string& whole);

/// Returns the cells that range_note names, such as "999999 (data row 17)"; "" for none. O(rows).
std::string stretching_cells(const Table& table, const Column& column, const std::vector<int64_t>& rows);

/// Reports numbers that look like row numbers: at least ten whole numbers that either increase (or decrease)
/// strictly from row to row, or are all different and almost without gaps. O(n).
std::string row_number_note(const Column& column);

/// Reports integers beyond 2^53 (Column::large): names the first one and the number that it is read as.
/// `then` is the end of the sentence, and says what the rounding means for the user.
std::string rounded_note(const Column& column, const std::string& whole, const std::string& then);

/// What rounding means for the rows of training: the `then` of rounded_note.
inline constexpr const char* kRoundedAlike =
    "different ones may become equal; subtract a number in the table to keep their differences";

/// Returns a sentence that says that the column holds row labels (is_row_label) and is therefore not an
/// input.
std::string row_label_note(const Column& column);

/// Returns a note on a numeric column in which some numbers have leading zeros, with the first of them
/// (Column::words) as an example; "" if none has.
std::string padded_note(const Column& column);

/// Reports times that give their offsets from UTC if those of training gave none, or the reverse. `trained`
/// says whether the times of training gave them; nothing is reported if it is empty.
std::string offset_note(const Column& column, std::optional<bool> trained);

/// Reports times without an offset from UTC in a column where others give one (Column::without_offset).
std::string mixed_offsets_note(const Column& column);

/// Reports categories that look like numbers, dates or times in another notation, that are codes with leading
/// zeros, or that differ only by case or blanks. `levels` are the categories in use. If the user has declared
/// that the column holds names (`declared`), only categories that differ by case or blanks are reported.
std::vector<std::string> category_notes(const std::vector<std::string>& levels, bool declared,
                                        const std::string& whole);

}  // namespace slimbayes
