#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slimbayes::cli {

// Text on the encoder in a model file. The file is not trusted: entries of an unexpected type are left out.

/// Returns one line for each column of the training table, on how the encoder uses the column: scaled, as
/// categories, dropped or ignored. `weights` names the column of the weights; "" for none.
std::string columns_text(const nlohmann::json& encoder, const std::string& weights);

/// Returns the calendar features that a model of windows adds to its inputs, such as "hour of the day, day of
/// the week"; "" if there are none.
std::string calendar_text(const nlohmann::json& encoder);

}  // namespace slimbayes::cli
