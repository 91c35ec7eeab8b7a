#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "slimbayes/data/table/table_file.h"

namespace arrow {
class MemoryPool;
class Table;
}  // namespace arrow

namespace slimbayes {

/// Converts columns of numbers, booleans, strings, dictionaries of strings, dates and timestamps, as
/// `reading` says. Throws DataError for a needed column of another type, naming column and type, and as
/// `bound` does. The Arrow data are released column by column; kept cells stay in `memory`.
Table from_arrow(std::shared_ptr<arrow::Table> data, const TableFile& file,
                 const std::shared_ptr<arrow::MemoryPool>& memory);

/// Converts to doubles, booleans, texts (as dictionaries if `dictionaries`) and UTC timestamps in
/// microseconds; NaN becomes null. Kept cells are converted as write_table says.
std::shared_ptr<arrow::Table> to_arrow(const Table& table, bool dictionaries);

/// The next four functions parse or format whole files in memory. They throw as read_table and write_table
/// do.
Table parse_parquet(std::span<const std::byte> bytes, const TableFile& file);
Table parse_feather(std::span<const std::byte> bytes, const TableFile& file);
std::string format_parquet(const Table& table, const std::string& path);
std::string format_feather(const Table& table, const std::string& path);

/// Returns the unpacked bytes of a gzip file. Throws DataError if it is damaged or cut short, and as `bound`
/// does.
std::string gunzip(std::span<const std::byte> bytes, const std::string& source, const TableBound& bound);

/// Returns the first `size` unpacked bytes of a gzip file; fewer if it holds fewer or is damaged.
std::string gunzip_head(std::span<const std::byte> bytes, int64_t size);

}  // namespace slimbayes
