#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

// Notes on what looks odd in a column before training. Each function looks at the column's cells alone and
// returns a sentence, or "" if nothing looks odd. `whole` names the column at the start of the sentence:
// "column 'x'" or "the target 'y'".

/// Names the extreme cells that stretch the range of a numeric or date-time column over these rows: at most
/// three values at an end, in at most half of the cells, without which the range shrinks more than tenfold.
/// The remaining cells must not have such extremes in turn. Where both ends have odd cells, these are
/// together at most a tenth of the cells. Such a cell is usually a code for a missing value, such as 999999.
/// O(rows).
std::string range_note(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                       const std::string& whole);

/// Returns the cells that range_note names, such as "999999 (data row 17)"; "" for none. O(rows).
std::string stretching_cells(const Table& table, const Column& column, const std::vector<int64_t>& rows);

/// Reports numbers that look like row numbers: at least ten whole numbers that either increase (or decrease)
/// strictly from row to row, or are all different and almost without gaps. O(n).
std::string row_number_note(const Column& column);

/// Reports integers beyond 2^53 (Column::large): names the first one and the number that it is read as.
/// `then` ends the sentence: it says what the rounding means for the user.
std::string rounded_note(const Column& column, const std::string& whole, const std::string& then);

/// What rounding means for the rows of training: the `then` of rounded_note.
inline constexpr const char* kRoundedAlike =
    "different ones may become equal; subtract a number in the table to keep their differences";

/// Returns a sentence that says that the column holds row labels (is_row_label) and is therefore not an
/// input.
std::string row_label_note(const Column& column);

/// Reports a numeric column in which some numbers have leading zeros (Column::words holds the first).
std::string padded_note(const Column& column);

/// Reports times that give their offsets from UTC where those of training gave none, or the reverse.
/// `trained` says whether training's did; nothing is reported if it is not known.
std::string offset_note(const Column& column, std::optional<bool> trained);

/// Reports times without an offset from UTC in a column where others give one (Column::without_offset).
std::string mixed_offsets_note(const Column& column);

/// Reports categories that look like numbers, dates or times in another notation, that are codes with leading
/// zeros, or that differ only by case or blanks. `levels`: the categories in use. `declared`: the user
/// declared the column to be names, so that only the last of these is reported.
std::vector<std::string> category_notes(const std::vector<std::string>& levels, bool declared,
                                        const std::string& whole);

}  // namespace slimbayes
