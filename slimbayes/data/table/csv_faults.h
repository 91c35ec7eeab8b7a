#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slimbayes/data/table/limits.h"

namespace slimbayes {

// What is wrong with a delimited text, as a DataError with the line of the fault.

/// Throws DataError if the text is a gzip or Parquet file, holds bytes of zero, or is not UTF-8.
void check_text(std::string_view text, const std::string& source);

/// The advice in a message on a cell longer than TableBound::cell.
inline constexpr const char* kShorten = "shorten it, or write the table without its column";

/// Returns words for a message on a cell longer than bound.cell, such as "a cell longer than 16 MB".
std::string long_cell(const TableBound& bound);

/// Throws DataError for a record in this line that has `cells` cells, and not `columns` as the header.
/// `first`: whether it is the first record below the header.
[[noreturn]] void throw_ragged(const std::string& source, int64_t line, int64_t cells, int64_t columns,
                               bool first);

/// Throws DataError for a record in this line whose cell number `column`, counted from 1, opens a quote that
/// is never closed; 0: the column is not known.
[[noreturn]] void throw_open_quote(const std::string& source, int64_t line, int64_t column);

}  // namespace slimbayes
