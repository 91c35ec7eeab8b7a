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

/// Returns the cells with shared ownership of the memory pool that they were allocated from.
FileCells kept_cells(std::shared_ptr<arrow::ChunkedArray> cells, std::shared_ptr<arrow::MemoryPool> memory);

/// Returns whether the cells are text.
bool are_text(const FileCells& cells);

/// Returns the cells of these rows. O(rows). Throws std::runtime_error if Arrow fails.
FileCells taken(const FileCells& cells, const std::vector<int64_t>& rows);

/// Returns the cells followed by those of these rows, or, unless `copied`, by as many nulls. Throws as taken.
FileCells extended(const FileCells& cells, const std::vector<int64_t>& rows, bool copied);

/// Returns a cell, which must not be null, as text with every digit: an integer, the shortest number that
/// reads back as the same float or double, a decimal with its places, true or false, a date, or an ISO 8601
/// time in UTC (with Z if the type has a zone). Other types are formatted by Arrow.
std::string cell_text(const arrow::Array& cells, int64_t row);

/// Reads the cells of a column as text, one after the other.
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
