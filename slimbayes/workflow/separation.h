#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// How well each score of the model (Model::ood) tells foreign examples from others: {"auroc": of each score,
/// "inverted": the scores that are lower on the foreign ones by more than chance makes of them}. Throws
/// std::invalid_argument for a model without scores.
nlohmann::json separation(const Model& model, const Scores& near, const Scores& far);

}  // namespace slimbayes
