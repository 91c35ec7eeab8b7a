#pragma once

#include <optional>

#include "slimbayes/report/row_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns how far the examples lie from the training data, by two scores: the distance, and the score that
/// the method offers for foreign rows (Model::ood). Returns nullopt if the model has neither.
std::optional<ForeignFact> foreign_facts(const ScoredExamples& s);

}  // namespace slimbayes
