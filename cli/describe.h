#pragma once

#include <string>

namespace slimbayes::cli {

/// What `methods` and `describe` print, from the catalogue and a model file's metadata alone: no tensor
/// library.
std::string list_methods(bool json);

/// `name` is a method, or else a file written by fit. Throws std::invalid_argument or DataError.
std::string describe(const std::string& name, bool json);

}  // namespace slimbayes::cli
