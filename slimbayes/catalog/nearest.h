#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// Returns the hint for an unknown word: "did you mean 'rank'?" if a known word begins with it or is near by
/// edit distance (at most half of it differs), else a list of the known words (the first thirty).
std::string nearest_hint(std::string_view word, const std::vector<std::string>& known);

}  // namespace slimbayes
