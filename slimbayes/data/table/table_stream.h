#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/limits.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// The rows of several files, read piece by piece, for tables that do not fit into memory. The files and
/// their order are those of read_tables(). A piece is a table of at most kPieceRows rows, whose
/// Table::numbers and parts are those of the whole (but see kFileRows). A column has the kind of the first
/// piece that has a value in it; a text file is read by the kinds that are known then, so its later cells
/// cannot change a kind, as they can in read_table().
class TableStream {
 public:
  /// The number of the first row of a file is this times the place of the file: where the files before it
  /// have other readers, the number of their rows is not known.
  static constexpr int64_t kFileRows = int64_t{1} << 36;

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

  /// Returns the name of each file, without its folder, and its size in bytes. Other processes that read a
  /// share of the rows must have the same.
  std::vector<std::string> files() const;

  /// Begins another pass, over the share of the rows that belongs to one of `readers`, whose numbers begin at
  /// 0: row groups of Parquet files, and other files as a whole. All readers deal them in the same way, by
  /// their bytes. Returns false, and begins a pass over all rows, if the shares would be too
  /// unequal: the smallest less than half of the mean.
  bool read_share(int64_t reader, int64_t readers);

  /// Begins another pass over all rows, after read_share().
  void read_all();

  /// Returns the kinds of the columns that have had a value so far, and sets those that other readers of the
  /// table know.
  std::map<std::string, ColumnKind, std::less<>> kinds() const;
  void know(const std::map<std::string, ColumnKind, std::less<>>& kinds);

  /// Returns about which share of the bytes of all files this pass has read, from 0 to 1.
  double share() const;

  const std::string& source() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slimbayes
