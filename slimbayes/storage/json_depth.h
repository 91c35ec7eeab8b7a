#pragma once

#include <string_view>

namespace slimbayes {

/// Returns whether objects and arrays of a JSON text nest at most `deepest` levels deep. Call it before
/// parsing untrusted text: copying, comparing and printing a parsed value recurse, so deep nesting could
/// overflow the stack. Cost: O(size). The text need not be valid JSON; nothing is thrown.
bool nests_at_most(std::string_view json, int deepest);

}  // namespace slimbayes
