#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns how well the out-of-distribution scores of the model (Model::ood) separate foreign examples, with
/// the scores `far`, from other examples, with the scores `near`: separation_report() of
/// answers/separation_report.h, with the facts of Fitted::ood_facts() and the histograms of the scores
/// (score_histograms()) as `histogram`. Throws std::invalid_argument for a model without scores.
nlohmann::json separation(const Model& model, const Scores& near, const Scores& far);

}  // namespace slimbayes
