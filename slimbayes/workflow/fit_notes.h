#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns the notes of fit_notes() that are known before the training: on the split,
/// the target and the columns.
std::vector<std::string> notes_before_training(const InputEncoder& encoder, const SplitRows& split);

/// Returns what a user should know of a fitted model before using its numbers, one sentence each, the most
/// important first: whether held-out scores and intervals can be trusted and what the sd rests on
/// (Model::noise), the split and the target, the columns (Encoder::notes), and what happened during the fit
/// (Summary::notes, a jitter). `valid` and `test` are evaluate() at `level` of the validation and the test
/// rows, null without such rows.
std::vector<std::string> fit_notes(const Model& model, const nlohmann::json& valid,
                                   const nlohmann::json& test, double level);

}  // namespace slimbayes
