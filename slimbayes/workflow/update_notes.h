#pragma once

#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns notes on examples with a target that `model` is about to learn (Model::with, Model::shard), one
/// sentence each: what is odd in their columns (notes_for), how far they lie outside the training range
/// (outside_text), and for a regression whether the targets seem to have another unit or meaning. That is so
/// if the median of |y - mean| / sd of the model's answers is above 10; Gaussian errors give 0.67. A few
/// outliers do not change the median. The notes do not prevent the update. Costs one prediction.
std::vector<std::string> update_notes(const Model& model, const Examples& examples);

}  // namespace slimbayes
