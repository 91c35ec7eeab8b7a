#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace slimbayes::cli {

/// The exit codes that the command line promises.
enum ExitCode { kDone = 0, kFailed = 1, kMisuse = 2, kInterrupted = 130 };

/// Prints one line on stderr that begins with `error:`.
void print_error(std::string_view message);

/// Writes results to stdout and flushes. Returns false if they could not be written (closed or full).
bool print_result(std::string_view text);

/// Runs `body` and returns its exit code. An exception becomes one line on stderr and an exit code.
int guarded(const std::function<int()>& body);

/// Opens the null device in place of a closed stdin, stdout or stderr, so that no data file gets one of their
/// descriptor numbers.
void guard_standard_streams();

}  // namespace slimbayes::cli
