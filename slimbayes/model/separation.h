#pragma once

#include "slimbayes/answers/separation_report.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns how well the out-of-distribution scores of the model (Model::ood) separate foreign examples, with
/// the scores `far`, from other examples, with the scores `near`: separation_report() of
/// answers/separation_report.h, with Fitted::projectors() and the histograms of the scores. Throws
/// std::invalid_argument for a model without scores.
SeparationReport separation(const Model& model, const Scores& near, const Scores& far);

}  // namespace slimbayes
