#pragma once

#include <filesystem>

#include "cli/request.h"

namespace slimbayes::cli {

/// Returns the folder of the example data: the environment variable SLIMBAYES_SHARE if it is set, else the
/// folder in the program's build or installation tree.
std::filesystem::path share_folder();

/// Loads the engine, which is the plugin with the tensor library, runs the request in it and returns its exit
/// code. If the code is not 0, it ends the process at once instead of returning, because the shutdown of the
/// libraries could fail too, for example after memory ran out. Throws std::runtime_error if the plugin cannot
/// be loaded.
int run_in_engine(const Request& request);

}  // namespace slimbayes::cli
