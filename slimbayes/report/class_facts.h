#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "slimbayes/report/answer_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns what the report says of class probabilities. `metrics` is the report of Model::evaluate(),
/// `bins` its reliability (uncertainty_of()).
ClassFacts class_facts(const ScoredExamples& s, const nlohmann::json& metrics, const ReliabilityBins& bins);

/// Returns the accuracy of the answers by the levels of each categorical column.
std::vector<GroupFact> class_groups(const ScoredExamples& s);

}  // namespace slimbayes
