#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "slimbayes/data/table/limits.h"
#include "slimbayes/data/table/records.h"

namespace slimbayes {

// Arrow says that a delimited text cannot be read, but not where the fault is. These functions walk the text
// again, find the fault and throw a DataError with its line.

/// Throws DataError if the text is a gzip or Parquet file, holds bytes of zero, or is not UTF-8.
void check_text(std::string_view text, const std::string& source);

/// What a message advises for a cell beyond TableBound::cell.
inline constexpr const char* kShorten = "shorten it, or write the table without its column";

/// Returns "a cell longer than 16 MB", with the bound on a cell.
std::string long_cell(const TableBound& bound);

/// Throws DataError for the first record without `columns` fields or with a quote that is never closed. If
/// there is none, the error repeats Arrow's message. `walker` stands behind the header.
[[noreturn]] void throw_bad_record(CsvWalker walker, size_t columns, const std::string& source,
                                   const std::string& arrow_message);

/// Throws DataError for the first cell that is longer than the bound or whose quote is never closed. `walker`
/// stands behind the header.
void check_cells(CsvWalker walker, const TableBound& bound, const std::string& source);

/// The place of a cell below the header.
struct CellPlace {
  int64_t row;     // from 0
  int64_t column;  // from 1
};

/// Throws DataError with this message and the line of the cell. `walker` stands behind the header.
[[noreturn]] void throw_at(CsvWalker walker, const CellPlace& place, const std::string& source,
                           const std::string& message);

}  // namespace slimbayes
