#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns how well each score of the model (Model::ood) separates foreign examples `far` from other examples
/// `near`. The object has, for each score, "auroc"; "fpr95", the share of `near` that would be reported if 95
/// % of `far` are found; and "aupr", the average precision with `far` as positives. "inverted" lists the
/// scores that are lower on foreign examples by more than chance explains (an AUROC more than 3 sd below
/// 0.5). Throws std::invalid_argument for a model without scores.
nlohmann::json separation(const Model& model, const Scores& near, const Scores& far);

}  // namespace slimbayes
