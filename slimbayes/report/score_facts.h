#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns the scores that the report shows, as a list of JSON objects: `key` in `metrics`, `label`, `value`,
/// `word`, what the number means here (mostly beside that of a model without inputs), and `verdict`: "good",
/// "fair", "poor" or "" if the number alone says nothing. `metrics` is the report of Model::evaluate() with
/// uncertainty_of().
nlohmann::json score_facts(const ScoredExamples& s, const nlohmann::json& metrics);

/// Returns the sentence at the head of the report: the error and the honesty of the uncertainty in brief.
std::string headline_of(const ScoredExamples& s, const nlohmann::json& metrics);

}  // namespace slimbayes
