#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slimbayes::cli {

/// Returns the section of `describe FILE` on the candidates of an `auto` model: a table of those that were
/// scored, with name, held-out NLL, weight and a note, the largest weight first, and below it those that were
/// left out, by reason, and the power of their pool. `facts` is the model file's metadata, of which the keys
/// `portfolio` and `pool_power` count; the file is not trusted, so entries of an unexpected type are left
/// out. Returns "" if it holds no candidate.
std::string candidates_text(const nlohmann::json& facts);

}  // namespace slimbayes::cli
