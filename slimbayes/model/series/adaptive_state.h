#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "slimbayes/answers/calibration/adaptive_conformal.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Returns whether the posterior of the model can learn rows, without regard to its calibration and weights.
bool learns_rows(const Model& model);

/// Returns the conformity scores (unsorted_scores) of the model's answers to these windows in the order of
/// the times that they predict; windows of one time, of several series, in the order of the table. Windows
/// without a finite answer are left out. [m] Throws std::invalid_argument for examples that are no windows,
/// DataError as Model::answers, and as unsorted_scores.
std::vector<double> scores_in_time(const Model& model, const Examples& windows);

/// Returns the coverage of intervals of this level whose state advances through the answered windows in the
/// order of time, beginning at that of the model (online_coverage); none for a model that is not adaptive.
/// `answer` are the m answers to the m windows.
std::optional<double> coverage_online(const Model& model, const Examples& answered, const Predictive& answer,
                                      double level);

/// Writes the state to the file, and to `facts`, the JSON that describes the calibration, that it is adaptive
/// and the numbers of scores `seen` and `kept`.
void store_adaptive(const AdaptiveScores& state, nlohmann::json& facts, TensorFile& file);

/// Removes the state from the file and returns it; none if there is none. Throws std::invalid_argument for
/// a damaged one.
std::optional<AdaptiveScores> take_adaptive(TensorFile& file);

}  // namespace slimbayes
