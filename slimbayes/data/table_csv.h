#pragma once

#include <string>
#include <string_view>

#include "slimbayes/data/table.h"

namespace slimbayes {

/// Parses delimited text: a header line, then a line a row. A field may be in double quotes, where a doubled
/// one stands for itself and line ends are text; empty lines are skipped; a byte-order mark and CRLF are
/// understood. Throws as read_table does; `bound` is that of the whole file, its text included.
Table parse_csv(std::string_view text, char delimiter, const std::string& source, const Reading& reading = {},
                const TableBound& bound = TableBound::of({}, 0));

/// The text that parse_csv reads back. Missing cells are empty.
std::string format_csv(const Table& table, char delimiter);

}  // namespace slimbayes
