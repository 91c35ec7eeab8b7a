#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace slimbayes {

/// A file that cannot be used: truncated, damaged, hostile, or a table with a bad cell.
/// `what()` reads `file[:line[:column]]: what was expected; what came; hint`.
class DataError : public std::runtime_error {
 public:
  /// `line` and `column` count from 1; 0 means that the place is not known (no column without a line).
  DataError(const std::string& file, const std::string& message, int64_t line = 0, int64_t column = 0);
};

/// The run was stopped by the user before anything worth keeping existed.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace slimbayes
