#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// Returns the hint for an unknown word: "did you mean 'rank'?" if a known word begins with it, or differs
/// from it by few edits (two, or a third of the word's length if that is more, but at most half of the longer
/// word). Else returns a list of the known words, at most thirty.
/// Known words may be of foreign origin: they are shown as printable() makes them.
std::string nearest_hint(std::string_view word, const std::vector<std::string>& known);

}  // namespace slimbayes
