#pragma once

#include <optional>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns the metrics that judge the uncertainty of a model's answers to these examples, which must have
/// targets: uncertainty_report() of answers/uncertainty_report.h, with the score that the method offers
/// (ood_score) and the first level of `answers`. Its keys differ from those of Model::evaluate(), so that
/// both may go into one object. `answers` are those of Model::answers() for these examples; examples without
/// an answer are left out, and weights count as in Model::evaluate(). Returns nothing for events, which have
/// no target for each example, and for segmentation, whose report has them by pixel. Throws as
/// Model::evaluate().
std::optional<UncertaintyReport> uncertainty_of(const Model& model, const Examples& examples,
                                                const Answers& answers);

}  // namespace slimbayes
