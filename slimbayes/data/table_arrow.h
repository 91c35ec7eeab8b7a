#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "slimbayes/data/table.h"

namespace arrow {
class MemoryPool;
class Table;
}  // namespace arrow

namespace slimbayes {

/// Columns of numbers, booleans, strings, dictionaries of strings, dates and timestamps, read as `reading`
/// says; throws DataError for others that are needed, naming column and type, and as `bound` does. The data
/// are let go column by column; kept cells lie in `memory`.
Table from_arrow(std::shared_ptr<arrow::Table> data, const std::string& source, const Reading& reading,
                 const TableBound& bound, const std::shared_ptr<arrow::MemoryPool>& memory);

/// Doubles, booleans, texts (dictionaries of them, if asked for), UTC timestamps in microseconds; NaN becomes
/// null. Kept cells as write_table says.
std::shared_ptr<arrow::Table> to_arrow(const Table& table, bool dictionaries);

/// Whole files in memory. They throw as read_table does.
Table parse_parquet(std::span<const std::byte> bytes, const std::string& source, const Reading& reading,
                    const TableBound& bound);
Table parse_feather(std::span<const std::byte> bytes, const std::string& source, const Reading& reading,
                    const TableBound& bound);
std::string format_parquet(const Table& table, const std::string& path);
std::string format_feather(const Table& table, const std::string& path);

/// The bytes inside a gzip file. Throws DataError when it is damaged or cut short, and as `bound` does.
std::string gunzip(std::span<const std::byte> bytes, const std::string& source, const TableBound& bound);

}  // namespace slimbayes
