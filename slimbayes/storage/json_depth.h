#pragma once

#include <string_view>

namespace slimbayes {

/// Whether objects and arrays nest at most `deepest` deep in a JSON text. To be asked before untrusted text
/// is parsed: copying, comparing and printing a parsed value recurse. O(size). Malformed text gets an answer,
/// too.
bool nests_at_most(std::string_view json, int deepest);

}  // namespace slimbayes
