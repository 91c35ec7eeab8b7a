#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "slimbayes/data/table.h"

namespace arrow {
class Table;
}

namespace slimbayes {

/// Columns of numbers, booleans, strings, dictionaries of strings, dates and timestamps; throws DataError for
/// others, naming column and type.
Table from_arrow(const arrow::Table& data, const std::string& source);

/// Doubles, booleans, dictionaries of strings, UTC timestamps in microseconds; NaN becomes null.
std::shared_ptr<arrow::Table> to_arrow(const Table& table);

/// Whole files in memory. They throw DataError.
Table parse_parquet(std::span<const std::byte> bytes, const std::string& source);
Table parse_feather(std::span<const std::byte> bytes, const std::string& source);
std::string format_parquet(const Table& table);
std::string format_feather(const Table& table);

/// The bytes inside a gzip file. Throws DataError when it is damaged or cut short.
std::string gunzip(std::span<const std::byte> bytes, const std::string& source);

}  // namespace slimbayes
