#pragma once

#include <vector>

#include "slimbayes/report/row_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns how the standardised residuals (y - mean) / sd depend on the columns of the largest importance, at
/// most six. Only for numbers and counts.
std::vector<ResidualFact> residual_facts(const ScoredExamples& s,
                                         const std::vector<ColumnImportance>& importance);

/// Returns the rows that surprise the model most, at most ten.
SurprisingFact surprising_rows(const ScoredExamples& s);

}  // namespace slimbayes
