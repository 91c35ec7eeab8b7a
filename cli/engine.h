#pragma once

#include <filesystem>
#include <optional>

#include "cli/request.h"

namespace slimbayes::cli {

/// Returns the folder of the example data: the environment variable SLIMBAYES_SHARE if it is set, else the
/// folder in the program's build or installation tree.
std::filesystem::path share_folder();

/// Answers the request in milliseconds if it can be answered without the tensor library (cli/rows.h), and
/// returns the exit code; else nullopt, and nothing has been written.
std::optional<int> run_without_engine(const Request& request);

/// Loads the engine, which is the plugin with the tensor library, runs the request in it and returns its exit
/// code. If the code is not 0, it ends the process at once instead of returning, because the shutdown of the
/// libraries could fail too, for example after memory ran out. Throws std::runtime_error if the plugin cannot
/// be loaded.
int run_in_engine(const Request& request);

}  // namespace slimbayes::cli
