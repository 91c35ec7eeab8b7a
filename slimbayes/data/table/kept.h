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

/// The cells of one column as an Arrow array, with the types and values that the file stores (Column::kept).
using FileCells = std::shared_ptr<const arrow::ChunkedArray>;

/// Returns `cells` as a pointer that also owns `memory`, the pool that they were allocated from, so that the
/// pool outlives them.
FileCells kept_cells(std::shared_ptr<arrow::ChunkedArray> cells, std::shared_ptr<arrow::MemoryPool> memory);

/// Returns whether the cells have one of Arrow's string types.
bool are_text(const FileCells& cells);

/// Returns the cells of the rows with these indices, in this order. O(rows). Throws std::runtime_error if
/// Arrow fails.
FileCells taken_cells(const FileCells& cells, const std::vector<int64_t>& rows);

/// Returns all cells, followed by one more cell for each index in `rows`: a copy of that row's cell if
/// `copied`, else a null. Use it where rows are added to a table. Throws std::runtime_error if Arrow fails.
FileCells extended(const FileCells& cells, const std::vector<int64_t>& rows, bool copied);

/// Returns the cells of two columns of one type, one after the other; nullptr if their types differ.
FileCells joined_cells(const FileCells& first, const FileCells& second);

/// Returns the text of the cell in this row, which must not be null, without loss of digits. Floats and
/// doubles become the shortest number that reads back the same, decimals keep their places, booleans become
/// true or false, and dates and times are ISO 8601 in UTC (times with Z if the type has a zone). Other types
/// are formatted by Arrow.
std::string cell_text(const arrow::Array& cells, int64_t row);

/// Returns the cells of a column as text, one after the other from the first row.
class CellTexts {
 public:
  explicit CellTexts(FileCells cells) : cells_(std::move(cells)) {}

  /// Returns the text of the next row's cell; nullopt if the cell is null. Must not be called after the last
  /// row.
  std::optional<std::string> next();

 private:
  FileCells cells_;
  int chunk_ = 0;
  int64_t row_ = 0;
};

}  // namespace slimbayes
