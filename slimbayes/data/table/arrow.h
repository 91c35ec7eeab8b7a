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

/// Returns the table with the columns of `data`, converted to doubles as file.reading says. Columns may hold
/// numbers, booleans, strings, dictionaries of strings, dates and timestamps. Throws DataError for a column
/// of another type that is needed, and as TableBound::check() if the table exceeds file.bound. To save
/// memory, each Arrow column is released once it is converted. The columns in reading.kept are not: they stay
/// in Column::kept, which then owns `memory`, the pool that `data` was allocated from.
Table from_arrow(std::shared_ptr<arrow::Table> data, const TableFile& file,
                 const std::shared_ptr<arrow::MemoryPool>& memory);

/// Throws DataError if `rows`, the number of rows in the file `source`, is 0.
void check_any_rows(int64_t rows, const std::string& source);

/// Returns the Arrow table that is written for `table`: columns of doubles, booleans, strings (dictionaries
/// of strings if `dictionaries`) and UTC timestamps in microseconds. NaN becomes null. Where Column::kept is
/// set, the column is made as write_table describes.
std::shared_ptr<arrow::Table> to_arrow(const Table& table, bool dictionaries);

/// The next four functions read a table from the bytes of a whole file, or return the bytes of a file with
/// the table. They throw as read_table and write_table do. `path` is used in messages.
Table parse_parquet(std::span<const std::byte> bytes, const TableFile& file);
Table parse_feather(std::span<const std::byte> bytes, const TableFile& file);
std::string format_parquet(const Table& table, const std::string& path);
std::string format_feather(const Table& table, const std::string& path);

/// Returns the unpacked bytes of a gzip file. Throws DataError if it is damaged or truncated, and as
/// TableBound::check_unpacked() if it unpacks to more than `bound` allows.
std::string gunzip(std::span<const std::byte> bytes, const std::string& source, const TableBound& bound);

/// Returns the first `size` unpacked bytes of a gzip file; fewer if it holds fewer or is damaged.
std::string gunzip_head(std::span<const std::byte> bytes, int64_t size);

}  // namespace slimbayes
