#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace arrow {
class Array;
class ChunkedArray;
class MemoryPool;
}  // namespace arrow

namespace slimbayes {

/// The cells of one column, with the types and values that the file stores.
using FileCells = std::shared_ptr<const arrow::ChunkedArray>;

/// The cells together with the memory that they lie in.
FileCells kept_cells(std::shared_ptr<arrow::ChunkedArray> cells, std::shared_ptr<arrow::MemoryPool> memory);

/// Whether the cells are text.
bool are_text(const FileCells& cells);

/// The cells of these rows. O(rows). Throws std::runtime_error.
FileCells taken(const FileCells& cells, const std::vector<int64_t>& rows);

/// A cell that is not null, as text with every digit: a whole number, the shortest one that reads as the same
/// float or double, a decimal with its places, true or false, a date, an ISO 8601 time in UTC (with Z where
/// the type has a zone); of other types as Arrow prints them.
std::string cell_text(const arrow::Array& cells, int64_t row);

/// Cells as text, one after the other.
class CellTexts {
 public:
  explicit CellTexts(FileCells cells) : cells_(std::move(cells)) {}

  /// Returns the text of the next row's cell, or nothing if the cell is null. Call it at most once per row.
  std::optional<std::string> next();

 private:
  FileCells cells_;
  int chunk_ = 0;
  int64_t row_ = 0;
};

}  // namespace slimbayes
