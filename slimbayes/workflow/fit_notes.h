#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns those notes of fit_notes() that are known before the training: on the split, the target and the
/// columns.
std::vector<std::string> notes_before_training(const InputEncoder& encoder, const SplitRows& split);

/// Returns the notes that a user should read before using the numbers of a fitted model, one sentence each,
/// the most important first: whether held-out scores and intervals can be trusted and how the sd was
/// determined (Model::noise); the split and the target; the columns (Encoder::notes); and events during the
/// fit (Summary::notes, jitter). `valid` and `test` are the reports of evaluate() at `level` for the
/// validation and the test rows; null if there are none.
std::vector<std::string> fit_notes(const Model& model, const nlohmann::json& valid,
                                   const nlohmann::json& test, double level);

}  // namespace slimbayes
