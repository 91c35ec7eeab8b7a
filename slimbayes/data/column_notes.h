#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/table.h"

namespace slimbayes {

// What looks odd in a column before it is trained on, a sentence each, from its cells alone; empty where
// nothing does. `whole` says how a sentence begins: "column 'x'" or "the target 'y'".

/// Names the cells that decide the range of a column of numbers or times on these rows: at most three values
/// at one end, in at most half of the cells, without which the range is less than a tenth, and that of the
/// others is not made by a few of them in turn. Such a cell is mostly a mark for a missing one (999999).
/// O(rows).
std::string range_note(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                       const std::string& whole);

/// Of numbers that are perhaps those of the rows: whole, different in every row of at least ten, and either
/// growing (or falling) from row to row or almost without gaps. O(n).
std::string row_number_note(const Column& column);

/// Of integers beyond 2^53 (Column::large): the first, what it is read as, and `then`, what that means.
std::string rounded_note(const Column& column, const std::string& whole, const std::string& then);

/// Of row labels (is_row_label).
std::string row_label_note(const Column& column);

/// The note for a numeric column where some numbers have leading zeros (the first is in Column::words).
std::string padded_note(const Column& column);

/// Categories that look like numbers or dates in another notation, that differ by case or blanks alone, or
/// that are codes with leading zeros (`declared`: known to be names). `levels`: those in use.
std::vector<std::string> category_notes(const std::vector<std::string>& levels, bool declared,
                                        const std::string& whole);

}  // namespace slimbayes
