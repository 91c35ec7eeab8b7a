#pragma once

#include <string>

namespace slimbayes::cli {

/// Returns the output of `methods`. Like describe(), it reads only the catalogue and the metadata of a model
/// file, so that it does not load the tensor library.
std::string list_methods(bool json);

/// Returns the output of `describe`. `name` is a method or a file written by fit; for "" returns
/// list_methods(). Throws std::invalid_argument for an unknown method and DataError for a file that is not a
/// model.
std::string describe(const std::string& name, bool json);

}  // namespace slimbayes::cli
