#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace slimbayes::cli {

/// Exit codes: the contract of the command line.
enum ExitCode { kDone = 0, kFailed = 1, kMisuse = 2, kInterrupted = 130 };

/// One line on stderr that begins `error:`.
void print_error(std::string_view message);

/// Writes results to stdout and flushes; false when they could not be written (closed, full).
bool print_result(std::string_view text);

/// Runs `body` at the edge of the program: what it throws becomes one line on stderr and an exit code.
int guarded(const std::function<int()>& body);

/// Opens the null device in place of a closed stdin, stdout or stderr, so that no data file gets their
/// number.
void guard_standard_streams();

}  // namespace slimbayes::cli
