#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slimbayes::cli {

// The model file is not trusted: entries that do not read as expected are left out.

/// Returns one line per column of a training table that says how the encoder in a model file uses it.
std::string columns_text(const nlohmann::json& encoder);

/// Returns the calendar features of windows, such as "hour of the day, day of the week"; "" if there are
/// none.
std::string calendar_text(const nlohmann::json& encoder);

}  // namespace slimbayes::cli
