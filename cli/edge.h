#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace slimbayes::cli {

/// The exit codes of the tool, which are part of its interface.
enum ExitCode { kDone = 0, kFailed = 1, kMisuse = 2, kInterrupted = 130 };

/// Prints one line on stderr that begins with `error:`.
void print_error(std::string_view message);

/// Writes results to stdout and flushes. Returns false if they could not be written (closed or full).
bool print_result(std::string_view text);

/// Runs `body` and returns its exit code. Turns an exception into one line on stderr and an exit code.
int guarded(const std::function<int()>& body);

/// Opens the null device for each of stdin, stdout and stderr that is closed. Otherwise a data file could get
/// its descriptor number and receive the output.
void guard_standard_streams();

}  // namespace slimbayes::cli
