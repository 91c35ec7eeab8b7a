#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/model/model.h"

namespace slimbayes::cli {

/// Returns as text, one line each, what a fit chose besides its parameters: the facts of its summary, the
/// options found by --tune and whether they mattered, and the factor that calibration gives the interval or
/// the sets of classes at this level. "" if there was no choice.
std::string choices_text(const Model& model, double level);

/// Returns the report of --tune under the key `tuning` and the factor of the conformal calibration under the
/// key `conformal`. A key is absent if the fit was not tuned or not calibrated.
nlohmann::json choices_json(const Model& model, double level);

}  // namespace slimbayes::cli
