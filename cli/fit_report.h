#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/workflow/model.h"

namespace slimbayes::cli {

/// Returns what a fit chose besides its parameters, one line each: the facts of its summary, the options
/// found by --tune and whether they mattered, and the factor of the conformal interval or sets at this level.
/// Empty if there was no choice.
std::string choices_text(const Model& model, double level);

/// Returns the tuning and the calibration as JSON, under the keys `tuning` (workflow/tuning.h) and
/// `conformal`. A key is absent if there was no choice.
nlohmann::json choices_json(const Model& model, double level);

}  // namespace slimbayes::cli
