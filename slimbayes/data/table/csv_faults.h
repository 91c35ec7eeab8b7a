#pragma once

#include <string>
#include <string_view>

#include "slimbayes/data/table/limits.h"

namespace slimbayes {

/// Throws DataError if the text is a gzip or Parquet file, holds bytes of zero, or is not UTF-8.
void check_text(std::string_view text, const std::string& source);

/// The advice in a message on a cell longer than TableBound::cell.
inline constexpr const char* kShorten = "shorten it, or write the table without its column";

/// Returns words for a message on a cell longer than bound.cell, such as "a cell longer than 16 MB".
std::string long_cell(const TableBound& bound);

}  // namespace slimbayes
