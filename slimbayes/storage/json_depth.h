#pragma once

#include <string_view>

namespace slimbayes {

/// Returns whether objects and arrays nest at most `deepest` deep in a JSON text. Call it before parsing
/// untrusted text: copying, comparing and printing a parsed value recurse, so deep nesting could overflow the
/// stack. Cost: O(size). Malformed text does not throw.
bool nests_at_most(std::string_view json, int deepest);

}  // namespace slimbayes
