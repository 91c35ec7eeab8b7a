#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// The scores of held-out examples, and their name in notes.
struct HeldOut {
  const nlohmann::json& report;  // Model::evaluate; null: there are no such examples
  std::string rows;              // "validation rows"
  double level;                  // of the intervals
  bool fresh = false;            // new data of a user, not a part of the fit: no advice on training
};

/// Adds `different_inputs` to the report, the number of examples with identical inputs counted once. Does so
/// only if more examples lie outside their intervals than chance would explain for independent examples.
void count_inputs(const Model& model, const Examples& examples, double level, nlohmann::json& report);

/// Returns warnings from the scores. Only parts with ten examples or more are tested, and each warning is
/// given for the first part to which it applies: more examples lie outside their intervals than chance
/// explains; the NLL is no better than that of one answer for all examples, or else the RMSE of the means is
/// hardly better than that of one number.
std::vector<std::string> trust_notes(const Model& model, const std::vector<HeldOut>& parts);

}  // namespace slimbayes
