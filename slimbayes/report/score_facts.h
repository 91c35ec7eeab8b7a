#pragma once

#include <string>
#include <vector>

#include "slimbayes/report/answer_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns the scores that the report shows, of the metrics of Model::evaluate().
std::vector<ScoreFact> score_facts(const ScoredExamples& s, const Evaluation& metrics);

/// Returns the sentence at the head of the report: the error and the honesty of the uncertainty in brief.
std::string headline_of(const ScoredExamples& s, const Evaluation& metrics);

}  // namespace slimbayes
