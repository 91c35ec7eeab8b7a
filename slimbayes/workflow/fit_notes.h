#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Those of fit_notes() that are known before the training: of the columns, the target and the split.
std::vector<std::string> notes_before_training(const InputEncoder& encoder, const SplitRows& split);

/// What a user should know of a fitted model before its numbers are used, a sentence each: the columns and
/// the target (Encoder::notes), how the split limits the scores, what the fit went through (Summary::notes, a
/// jitter), what its sd rests on (Model::noise), whether it learnt anything. `valid` is evaluate() of the
/// validation rows; null where there are none.
std::vector<std::string> fit_notes(const Model& model, const nlohmann::json& valid);

}  // namespace slimbayes
