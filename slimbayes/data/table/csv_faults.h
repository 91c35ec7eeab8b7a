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

/// The advice in a message on a cell longer than TableBound::cell.
inline constexpr const char* kShorten = "shorten it, or write the table without its column";

/// Returns words for a message on a cell longer than bound.cell, such as "a cell longer than 16 MB".
std::string long_cell(const TableBound& bound);

/// Throws DataError for the first record that has not exactly `columns` fields or opens a quote that is never
/// closed. If there is no such record, the DataError repeats Arrow's message. `walker` must stand at the
/// first record after the header.
[[noreturn]] void throw_bad_record(CsvWalker walker, size_t columns, const std::string& source,
                                   const std::string& arrow_message);

/// Throws DataError for the first cell that is longer than bound.cell or whose quote is never closed; returns
/// if there is none. `walker` must stand at the first record after the header.
void check_cells(CsvWalker walker, const TableBound& bound, const std::string& source);

/// The place of a cell in the text below the header.
struct CellPlace {
  int64_t row;     // counted from 0
  int64_t column;  // counted from 1
};

/// Throws DataError with this message, the line on which the record of the cell begins, and the cell's
/// column. `walker` must stand at the first record after the header.
[[noreturn]] void throw_at(CsvWalker walker, const CellPlace& place, const std::string& source,
                           const std::string& message);

}  // namespace slimbayes
