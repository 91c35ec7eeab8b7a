#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace slimbayes {

/// Bounds on reading one table.
struct TableLimits {
  /// Bytes of memory that reading may take, the file's own bytes too. 0: three quarters of memory_at_hand(),
  /// and a packed file may unpack to 256 MB, or 100 times its size (.gz), 1,000 times (.parquet, .feather),
  /// where that is more.
  uint64_t memory = 0;
  uint64_t cell = uint64_t{16} << 20;  // bytes of one cell of text
};

/// There is not the memory that a table takes: no fault of the file. `what()` names the file.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The limits for one particular file: TableLimits with its defaults resolved from the memory available and
/// the file's size.
struct TableBound {
  uint64_t memory = 0;    // bytes that reading may take
  uint64_t unpacked = 0;  // bytes that may come out of a packed file
  uint64_t cell = 0;
  uint64_t file = 0;  // its bytes
  bool asked = false;

  /// The bounds for a file of `file` bytes. Where limits.memory is 0, a packed file may unpack to `ratio`
  /// times its size, or to 256 MB if that is more. ratio = 0: the file is not packed.
  static TableBound of(const TableLimits& limits, uint64_t file, uint64_t ratio = 0);

  /// Throws unless reading `source` may take this many bytes: DataError where the bound was asked for, else
  /// OutOfMemory.
  void check(uint64_t bytes, const std::string& source) const;

  /// Throws unless so many bytes may come out of it: as check(), or DataError beyond the ratio.
  void check_unpacked(uint64_t bytes, const std::string& source) const;

  /// Throws DataError for a cell of text beyond the bound.
  void check_cell(uint64_t bytes, std::string_view column, const std::string& source) const;
};

/// Throws OutOfMemory for `source`. Call it when an allocation fails although it is within the bound.
[[noreturn]] void throw_out_of_memory(const std::string& source);

}  // namespace slimbayes
