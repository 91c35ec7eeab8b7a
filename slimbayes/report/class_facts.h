#pragma once

#include <vector>

#include "slimbayes/report/answer_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns what the report says of class probabilities. `metrics` are those of Model::evaluate(), `bins` is
/// their reliability (uncertainty_of()).
ClassFacts class_facts(const ScoredExamples& s, const Evaluation& metrics, const ReliabilityBins& bins);

/// Returns the accuracy of the answers by the levels of each categorical column.
std::vector<GroupFact> class_groups(const ScoredExamples& s);

}  // namespace slimbayes
