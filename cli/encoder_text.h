#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slimbayes::cli {

// The model file is not trusted: entries that are not as expected are left out.

/// Returns one line for each column of the training table on how the encoder in a model file uses it.
std::string columns_text(const nlohmann::json& encoder);

/// Returns the calendar features of windows, such as "hour of the day, day of the week"; "" if there are
/// none.
std::string calendar_text(const nlohmann::json& encoder);

}  // namespace slimbayes::cli
