#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "slimbayes/data/table/limits.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// The rows of one file, piece by piece.
class TablePieces {
 public:
  virtual ~TablePieces() = default;

  /// Returns the next rows, read as `reading` says; nothing after the last ones. Throws as read_table.
  virtual std::optional<Table> next(const Reading& reading) = 0;

  /// Returns about which share of the file is read, from 0 to 1.
  virtual double share() const = 0;

  /// Returns the bytes of the parts that can be read apart, the row groups of a Parquet file. Empty: the file
  /// can only be read as a whole.
  virtual std::vector<int64_t> parts() const { return {}; }

  /// Reads only the parts with these numbers, ascending. Call it before the first next(), on a file with
  /// parts().
  virtual void read_only(const std::vector<int>& parts) { (void)parts; }

  /// Returns how many rows of the file come before the next part that is read, because others are left out.
  virtual int64_t left_out() const { return 0; }
};

/// Opens a file of any format of read_table. A piece has at most `rows` rows; that of a text file ends after
/// about `text` bytes.
std::unique_ptr<TablePieces> open_pieces(const std::filesystem::path& file, const TableLimits& limits,
                                         int64_t rows, int64_t text);

}  // namespace slimbayes
