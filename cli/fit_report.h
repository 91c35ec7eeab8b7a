#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/methods/table_model.h"

namespace slimbayes::cli {

/// What a fit chose beside its parameters, a line each: what --tune found and whether it mattered, the factor of the
/// conformal interval at this level. Empty where there was nothing to choose.
std::string choices_text(const TableModel& model, double level);

/// The same as `tuning` (methods/tuning.h) and `conformal`, where they are.
nlohmann::json choices_json(const TableModel& model, double level);

}  // namespace slimbayes::cli
