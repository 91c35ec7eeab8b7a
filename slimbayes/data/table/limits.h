#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "slimbayes/export.h"

namespace slimbayes {

/// Bounds on the memory that reading one table may take.
struct TableLimits {
  /// Bytes of memory that reading may take, the file's own bytes included. 0: three quarters of
  /// memory_at_hand(). In that case the unpacked size of a compressed file is limited too: to 256 MB or, if
  /// this is more, to 100 times its size (.gz) or 1,000 times its size (.parquet, .feather, .gz files of
  /// images).
  uint64_t memory = 0;
  uint64_t cell = uint64_t{16} << 20;  // most bytes of one cell of text
  bool pieces = false;                 // the rows are read piece by piece, and the bound is that of one piece
};

/// Thrown when the machine has not enough memory for a table, although the file is valid, or a device has not
/// enough for a training. `what()` names the file or the device.
class SLIMBAYES_EXPORT OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The limits for one file. TableBound::of() computes them from TableLimits, the memory available and the
/// file's size.
struct SLIMBAYES_EXPORT TableBound {
  uint64_t memory = 0;    // most bytes that reading may take
  uint64_t unpacked = 0;  // most bytes that a compressed file may unpack to
  uint64_t cell = 0;      // most bytes of one cell of text
  uint64_t file = 0;      // size of the file in bytes
  bool asked = false;     // whether the user set TableLimits::memory: check() then throws DataError
  bool pieces = false;    // TableLimits::pieces, for messages

  /// Returns the bounds for a file of `file` bytes. Where limits.memory is 0, a compressed file may unpack to
  /// `ratio` times its size, or to 256 MB if that is more. ratio = 0: the file is not compressed.
  static TableBound of(const TableLimits& limits, uint64_t file, uint64_t ratio = 0);

  /// Throws if `bytes`, the memory that reading the file `source` takes, exceeds `memory`: DataError if the
  /// user set the bound, else OutOfMemory.
  void check(uint64_t bytes, const std::string& source) const;

  /// Checks `bytes`, the unpacked size of the file `source`. Throws as check() if it exceeds `memory`, and
  /// DataError if it exceeds `unpacked`.
  void check_unpacked(uint64_t bytes, const std::string& source) const;

  /// Throws DataError if `bytes`, the length of a cell of text in this column, exceeds `cell`.
  void check_cell(uint64_t bytes, std::string_view column, const std::string& source) const;
};

/// Throws OutOfMemory, with a message on the file `source`. Call it when the system refuses an allocation
/// that is within the bound.
[[noreturn]] SLIMBAYES_EXPORT void throw_out_of_memory(const std::string& source);

}  // namespace slimbayes
