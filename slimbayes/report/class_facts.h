#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns what the report says of class probabilities, as a JSON object. `metrics` is the report of
/// Model::evaluate() with uncertainty_of().
///   reliability  lists confidence, accuracy, rows of 15 bins, and ece
///   confusion    `classes`, `counts` (one list for each true class), absent for more than 100 classes
///   selective    `share` of the rows answered, from 0.05 to 1, and for each score the accuracy of the rows
///                answered, `by`
///   entropy      `edges` of bins from 0 to log C, and `right`, `wrong`, the numbers of rows in each
///   sets         of a calibrated model: coverage, level, size (mean), `sizes`, the number of rows with 0, 1,
///                ... classes in the set
///   groups       see group_facts()
/// Each has a sentence `says`.
nlohmann::json class_facts(const ScoredExamples& s, const nlohmann::json& metrics);

}  // namespace slimbayes
