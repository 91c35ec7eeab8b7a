#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns the report of Model::evaluate on the examples that have an answer, with count_inputs(), and adds a
/// note on the others. Returns null for no examples. Throws DataError if no example has an answer.
nlohmann::json report_on(const Model& model, const Examples& examples, double level,
                         std::vector<std::string>& notes);

/// Returns a part of the examples that the model was fitted on: "train", "valid", "calibration" or "test".
/// Throws std::invalid_argument if the hash of the examples shows that the model was fitted on others, or if
/// the part is empty.
Examples part_of(const Model& model, const Examples& examples, const std::string& part);

}  // namespace slimbayes
