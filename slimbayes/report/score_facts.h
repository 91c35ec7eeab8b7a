#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/report/answer_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns the scores that the report shows. `metrics` is the report of Model::evaluate() with
/// uncertainty_of().
std::vector<ScoreFact> score_facts(const ScoredExamples& s, const nlohmann::json& metrics);

/// Returns the sentence at the head of the report: the error and the honesty of the uncertainty in brief.
std::string headline_of(const ScoredExamples& s, const nlohmann::json& metrics);

}  // namespace slimbayes
