#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/workflow/model.h"

namespace slimbayes::cli {

/// What a fit chose beside its parameters, a line each: what --tune found and whether it mattered, the factor
/// of the conformal interval at this level. Empty where there was nothing to choose.
std::string choices_text(const Model& model, double level);

/// The same as `tuning` (workflow/tuning.h) and `conformal`, where they are.
nlohmann::json choices_json(const Model& model, double level);

}  // namespace slimbayes::cli
