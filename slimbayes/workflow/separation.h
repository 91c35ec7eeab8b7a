#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns how well the out-of-distribution scores of the model (Model::ood) separate foreign examples, with
/// the scores `far`, from other examples, with the scores `near`. The JSON object has for each score "auroc";
/// "fpr95", the share of the `near` examples that would be flagged as foreign with the threshold that finds
/// 95 % of the foreign ones; and "aupr", the average precision with the foreign examples as positives.
/// "inverted" lists the scores that are lower on foreign examples by more than chance explains (an AUROC more
/// than 3 sd below 0.5). Throws std::invalid_argument for a model without scores.
nlohmann::json separation(const Model& model, const Scores& near, const Scores& far);

}  // namespace slimbayes
