#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace slimbayes::cli {

/// The exit codes of the tool, which scripts may rely on: done, failed, wrong use or bad input, interrupted.
enum ExitCode { kDone = 0, kFailed = 1, kMisuse = 2, kInterrupted = 130 };

/// Prints the message on stderr as one line that begins with "error:".
void print_error(std::string_view message);

/// Writes a line to stderr, which is the log of the tool.
void log_line(const std::string& text);

/// Writes the text to stdout and flushes it. Returns false if it could not be written, because stdout is
/// closed or its disk is full.
bool print_result(std::string_view text);

/// Runs `body` and returns its exit code. Does not throw: prints an exception of `body` as one line on stderr
/// and returns kMisuse for std::invalid_argument and DataError, kInterrupted for Interrupted, else kFailed.
/// `rank` is the number of this process in a fit by several. Those above 0 say nothing of what all ranks meet
/// (RanksEnded, NumericalError), which rank 0 prints; their own failures, such as a file that only their
/// machine lacks, they print with their rank.
int guarded(const std::function<int()>& body, int64_t rank = 0);

/// Opens the null device in place of each of stdin, stdout and stderr that is closed. Otherwise the next file
/// that the process opens would get the free descriptor number, and the output would be written into that
/// file.
void guard_standard_streams();

}  // namespace slimbayes::cli
