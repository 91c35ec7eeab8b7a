#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// The hint for a word that is not known: "did you mean 'rank'?" where one is near by edit distance, else the
/// words themselves (the first thirty).
std::string nearest_hint(std::string_view word, const std::vector<std::string>& known);

}  // namespace slimbayes
