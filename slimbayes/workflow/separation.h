#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns how well each score of the model (Model::ood) separates foreign examples `far` from others,
/// `near`: {"auroc": per score, "fpr95": the share of `near` that an alarm which finds 95 % of `far` would
/// report, "aupr": the average precision with `far` as positives, "inverted": the names of the scores that
/// are lower on the foreign examples by more than chance explains (an AUROC more than 3 sd below 0.5)}.
/// Throws std::invalid_argument for a model without scores.
nlohmann::json separation(const Model& model, const Scores& near, const Scores& far);

}  // namespace slimbayes
