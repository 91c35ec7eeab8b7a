#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slimbayes::cli {

/// What became of each column of a training table, a line each, from the encoder in a model file. It trusts
/// nothing there: what does not read as a column is left out.
std::string columns_text(const nlohmann::json& encoder);

}  // namespace slimbayes::cli
