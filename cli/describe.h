#pragma once

#include <string>

namespace slimbayes::cli {

/// Returns the output of the command `methods`. Like describe(), it reads only the method catalogue and the
/// metadata of a model file, so the tensor library is not loaded.
std::string list_methods(bool json);

/// Returns the output of the command `describe`. `name` is a method or a model file; for "" returns
/// list_methods(). Throws std::invalid_argument for an unknown method and DataError for a file that is not a
/// model.
std::string describe(const std::string& name, bool json);

}  // namespace slimbayes::cli
