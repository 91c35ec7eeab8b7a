#pragma once

#include <string>

namespace slimbayes::cli {

/// Returns what `methods` prints. Like describe(), it reads only the catalogue and the metadata of a model
/// file, so that it does not load the tensor library.
std::string list_methods(bool json);

/// Returns what `describe` prints. `name` is a method or a file written by fit; without a name (""), this is
/// list_methods(). Throws std::invalid_argument
/// for an unknown method or DataError for a file that is not a model.
std::string describe(const std::string& name, bool json);

}  // namespace slimbayes::cli
