#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slimbayes::cli {

/// Returns one line per column of a training table that says how the encoder in a model file uses it. The
/// file is not trusted: entries that do not read as a column are left out.
std::string columns_text(const nlohmann::json& encoder);

}  // namespace slimbayes::cli
