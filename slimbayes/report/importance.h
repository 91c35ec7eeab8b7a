#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "slimbayes/report/row_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns the importance of each input column of a table or of windows, the largest rise of the error first.
/// Takes at most 2,000 of the examples, evenly spaced, and fewer if there are more than thirty columns.
/// Few examples are permuted several times, and the results averaged. The numbers are those of
/// group_importance() for each column alone. Empty for images and text, and if there are fewer than ten
/// examples.
/// Calls progress(share) with the share that is done.
std::vector<ColumnImportance> permutation_importance(const ScoredExamples& s,
                                                     const std::function<void(double)>& progress = {});

/// Returns what the report says of the importance; nothing if there is none.
std::optional<ImportanceFact> importance_facts(const ScoredExamples& s,
                                               const std::vector<ColumnImportance>& importance);

}  // namespace slimbayes
