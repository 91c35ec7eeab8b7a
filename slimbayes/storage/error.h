#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "slimbayes/export.h"

namespace slimbayes {

/// Thrown for a file that cannot be used: it is absent, truncated, damaged or hostile, or a table has a bad
/// cell. `what()` reads `file[:line[:column]]: what was expected; what was received; hint`. The file's name
/// is foreign text and is escaped here (foreign_text()); `message` is text of the library.
class SLIMBAYES_EXPORT DataError : public std::runtime_error {
 public:
  /// `line` and `column` count from 1; 0 means unknown. `column` is left out of the message if `line` is 0.
  DataError(const std::string& file, const std::string& message, int64_t line = 0, int64_t column = 0);
};

/// Thrown if a computation fails for numerical reasons, for example a factorisation or an optimisation. The
/// message says what was expected, what was found (for a factorisation: the matrix size and the first pivot
/// that is not positive) and, where possible, what the user can do.
class SLIMBAYES_EXPORT NumericalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown when the user stops a run (Ctrl-C) before the run has a result that could be saved.
class SLIMBAYES_EXPORT Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown in a fit by several processes where another one has ended or does not answer in time.
class SLIMBAYES_EXPORT RanksEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown in a fit whose parts several processes share as jobs (train/job_ranks.h), on every process but rank
/// 0, when rank 0 has no more jobs for it. It ends the work of that process and is no failure: rank 0 alone
/// has the model.
class SLIMBAYES_EXPORT JobsServed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns a message of the library for a user, without the names of the functions that threw it:
/// "[Encoder::fit] expected ..." becomes "expected ...", also after the name of a file ("m.safetensors:
/// [load] expected ..."). Whatever shows messages to users calls it.
SLIMBAYES_EXPORT std::string without_functions(std::string_view message);

}  // namespace slimbayes
