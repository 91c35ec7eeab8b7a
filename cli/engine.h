#pragma once

#include <filesystem>

#include "cli/request.h"

namespace slimbayes::cli {

/// The folder of the example data: SLIMBAYES_SHARE, else beside the program's build or installation tree.
std::filesystem::path share_folder();

/// Opens the plugin with the tensor library and runs the request there. Throws std::runtime_error when it
/// cannot be opened.
int run_in_engine(const Request& request);

}  // namespace slimbayes::cli
