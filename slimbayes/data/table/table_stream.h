#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/limits.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// The rows of several files, read piece by piece, for tables that do not fit into memory. The files and
/// their order are those of read_tables(). A piece is a table of at most kPieceRows rows, whose
/// Table::numbers and parts are those of the whole. A column has the kind of the first piece that has a value
/// in it; a text file is read by the kinds that are known then, so its later cells cannot change a kind, as
/// they can in read_table().
class TableStream {
 public:
  /// The most rows of a piece of a Parquet or Feather file; that of a text file ends after some megabytes.
  static constexpr int64_t kPieceRows = 65536;

  /// Lists the files. `source` names the whole in messages; `limits` are those of one piece. Throws DataError
  /// as read_tables().
  TableStream(const std::vector<std::filesystem::path>& files, std::string source, Reading reading,
              const TableLimits& limits);
  ~TableStream();
  TableStream(TableStream&&) noexcept;
  TableStream& operator=(TableStream&&) noexcept;

  /// Returns the next piece, with the columns in the order of the first one; nothing after the last one.
  /// Throws DataError as read_tables(), for a damaged row group with its number, and for a file that has
  /// changed since an earlier pass.
  std::optional<Table> next();

  /// Begins another pass, from the first row.
  void rewind();

  /// Returns about which share of the bytes of all files this pass has read, from 0 to 1.
  double share() const;

  const std::string& source() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slimbayes
