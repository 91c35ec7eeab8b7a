#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "slimbayes/data/table/table_file.h"

namespace slimbayes {

/// Parses delimited text (CSV, TSV): a header line, then one line per row. A field may be in double quotes;
/// inside them, a doubled quote stands for one quote, and line ends are text. Empty lines are skipped; a
/// byte-order mark and CRLF are understood. `file` says how to read the columns and how much memory to use.
/// Throws as read_table does.
Table parse_csv(std::string_view text, char delimiter, const TableFile& file);

/// Formats a table as text that parse_csv reads back. Missing cells are empty.
std::string format_csv(const Table& table, char delimiter);

/// Formats the rows of a table as JSON objects, one a line with a comma between two, whose keys are the names
/// of the columns in their order. A missing cell is null; numbers and booleans are those of JSON, categories
/// and times the texts of format_csv. `write` receives the text in pieces of about 64 KB, since the names in
/// every row make it several times as long as the table.
void format_json_rows(const Table& table, const std::function<void(std::string_view)>& write);

}  // namespace slimbayes
