#pragma once

#include <filesystem>

#include "cli/request.h"

namespace slimbayes::cli {

/// Returns the folder of the example data: SLIMBAYES_SHARE if set, else the folder in the program's build or
/// installation tree.
std::filesystem::path share_folder();

/// Opens the plugin with the tensor library, runs the request there and returns its exit code. An exit code
/// other than 0 ends the process here. Throws std::runtime_error if the plugin cannot be opened.
int run_in_engine(const Request& request);

}  // namespace slimbayes::cli
