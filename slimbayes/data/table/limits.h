#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace slimbayes {

/// Bounds on the memory that reading one table may take.
struct TableLimits {
  /// Bytes of memory that reading may take, the file's own bytes included. 0: three quarters of
  /// memory_at_hand(). In that case a packed file may unpack to 256 MB or, if this is more, to 100 times its
  /// size (.gz) or 1,000 times its size (.parquet, .feather, and .gz files of images).
  uint64_t memory = 0;
  uint64_t cell = uint64_t{16} << 20;  // bytes of one cell of text
};

/// Thrown when there is not enough memory for a table. The file is not at fault. `what()` names the file.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The limits for one particular file: TableLimits with its defaults resolved from the memory available and
/// the file's size.
struct TableBound {
  uint64_t memory = 0;    // bytes that reading may take
  uint64_t unpacked = 0;  // bytes that a packed file may unpack to
  uint64_t cell = 0;      // bytes of one cell of text
  uint64_t file = 0;      // bytes of the file
  bool asked = false;     // whether TableLimits::memory was set, so that a breach is a DataError

  /// The bounds for a file of `file` bytes. Where limits.memory is 0, a packed file may unpack to `ratio`
  /// times its size, or to 256 MB if that is more. ratio = 0: the file is not packed.
  static TableBound of(const TableLimits& limits, uint64_t file, uint64_t ratio = 0);

  /// Throws if reading `source` would take more than `memory` bytes: DataError if the user set the bound,
  /// else OutOfMemory.
  void check(uint64_t bytes, const std::string& source) const;

  /// Checks the unpacked size of `source`. Throws as check() if `bytes` exceeds `memory`, and DataError if it
  /// exceeds `unpacked`.
  void check_unpacked(uint64_t bytes, const std::string& source) const;

  /// Throws DataError for a cell of text longer than `cell` bytes.
  void check_cell(uint64_t bytes, std::string_view column, const std::string& source) const;
};

/// Throws OutOfMemory for `source`. Call it when an allocation fails although it is within the bound.
[[noreturn]] void throw_out_of_memory(const std::string& source);

}  // namespace slimbayes
