#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns the notes of fit_notes() that are known before the training: on the columns, the target and the
/// split.
std::vector<std::string> notes_before_training(const InputEncoder& encoder, const SplitRows& split);

/// Returns what a user should know of a fitted model before using its numbers, one sentence each: the columns
/// and the target (Encoder::notes), how the split limits the scores, what happened during the fit
/// (Summary::notes, a jitter), what the sd rests on (Model::noise), and whether the model learnt anything.
/// `valid` is evaluate() of the validation rows, or null without such rows.
std::vector<std::string> fit_notes(const Model& model, const nlohmann::json& valid);

}  // namespace slimbayes
