#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// The scores of examples that did not train a model, and how a note calls these.
struct HeldOut {
  const nlohmann::json& report;  // Model::evaluate; null: there are no such examples
  std::string rows;              // "validation rows"
  double level;                  // of the intervals
  bool fresh = false;            // data of a user, not a part of the fit's: no advice on the training
};

/// Adds `different_inputs` to the report of these examples where more of them lie outside their intervals
/// than chance explains if they were independent: the number of examples with identical inputs counted once.
void count_inputs(const Model& model, const Examples& examples, double level, nlohmann::json& report);

/// Returns warnings that the scores give, each of the first part that it holds for, of those with ten
/// examples or more: more examples lie outside their intervals than chance explains; the NLL is no better
/// than one answer for every example, or else the RMSE of the means is hardly better than one number.
std::vector<std::string> trust_notes(const Model& model, const std::vector<HeldOut>& parts);

}  // namespace slimbayes
