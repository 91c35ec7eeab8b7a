#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/report/scored.h"

namespace slimbayes {

/// How much a model's answers depend on one input column: permutation importance (Breiman 2001; Fisher, Rudin
/// and Dominici 2019). The cells of the column are permuted among the examples, so that they say nothing.
struct ColumnImportance {
  std::string column;
  double error = 0;   // rise of the RMSE of the mean (numbers, counts) or of the NLL (classes)
  double spread = 0;  // mean absolute change of log sd (numbers, counts) or of the entropy (classes)
};

/// Returns the importance of each input column of a table or of windows, the largest rise of the error first.
/// Takes at most 2,000 of the examples, evenly spaced, and fewer if there are more than thirty columns.
/// Permutations are seeded by the name of the column; few examples are permuted several times. Of windows,
/// stretches of several windows' length change places, so that the cells next to each other stay together.
/// Empty for images and text, and if there are fewer than ten examples. Calls progress(share) with the share
/// that is done.
std::vector<ColumnImportance> permutation_importance(const ScoredExamples& s,
                                                     const std::function<void(double)>& progress = {});

/// Returns the importance as the JSON object `importance` of report_facts(): rows, `columns` with name,
/// error, spread, and a sentence `says`; null if there is none.
nlohmann::json importance_facts(const ScoredExamples& s, const std::vector<ColumnImportance>& importance);

}  // namespace slimbayes
