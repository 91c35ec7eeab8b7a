#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

enum class ColumnKind { numeric, boolean, categorical, datetime };

/// "numeric", "boolean", "categorical" or "datetime".
std::string_view kind_name(ColumnKind kind);

/// One column. NaN stands for a missing cell in every kind.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<double> values;       // numbers; 0/1; index into levels; seconds since 1970-01-01 UTC
  std::vector<std::string> levels;  // of a categorical column, in order of first appearance
};

/// A table in memory, column by column. Free of tensors, so that it is read, tested and fuzzed without libtorch.
struct Table {
  std::string source;  // path, for messages
  std::vector<Column> columns;
  int64_t rows = 0;

  const Column* find(std::string_view name) const;  // nullptr if absent
};

/// Reads .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather through Apache Arrow. Missing: an empty cell, NA, N/A, NaN, null.
/// Throws DataError with file, line and column for a missing, empty, header-only or ragged file, duplicate or empty
/// column names, and a text cell in a column of numbers.
Table read_table(const std::filesystem::path& path);

/// The rows with these indices, in this order.
Table take_rows(const Table& table, const std::vector<int64_t>& rows);

/// Writes numeric columns by the path's ending: .csv, .parquet, or "-" for CSV on standard output. Atomic.
/// Numbers are written so that reading gives the same double.
void write_table(const std::filesystem::path& path, const Table& table);

}  // namespace slimbayes
