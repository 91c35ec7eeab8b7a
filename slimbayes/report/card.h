#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns what a reader must know of a model, as a JSON object: method with its `summary`, task, likelihood,
/// input, target, `rows` (training, validation, calibration, test), `columns` (name, kind, and `dropped`, why
/// a column is no input, or ""), `options` (name, value, fallback) that differ from the defaults, calibration
/// (a sentence or ""), noise (a list of sentences).
nlohmann::json card_facts(const Model& model);

}  // namespace slimbayes
