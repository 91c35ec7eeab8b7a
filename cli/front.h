#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/request.h"

namespace slimbayes::cli {

/// Returns whether several processes can share the command of a request.
inline bool is_shared(const Request& request) {
  return std::holds_alternative<FitRequest>(request.command) ||
         std::holds_alternative<CompareRequest>(request.command);
}

/// Runs a body on every rank, and makes each of them throw where one does (together() in train/collective.h).
using Agreed = std::function<void(const std::function<void()>& body)>;

/// Runs a command line `words` (without the program's name) and returns its exit code. Answers that need no
/// tensors are given here, by rank 0 of several processes; `run` gets the request of any other command, which
/// several processes share if it is a fit or a comparison. `agreed` is empty for one process. Does not throw:
/// errors are printed (guarded).
int run_command_line(const std::vector<std::string>& words, const RankOfGroup& rank, const Agreed& agreed,
                     const std::function<int(Request&)>& run);

}  // namespace slimbayes::cli
