#pragma once

#include <string>
#include <vector>

#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns notes on examples with a target that `model` is about to learn (Model::with, Model::shard), one
/// sentence each; empty if nothing is odd. They say what is odd in the columns (notes_for), how far the rows
/// lie outside the training range (outside_text), and for a regression whether the targets seem to have
/// another unit or meaning than those of training. The test for the last one is whether the median of |y -
/// mean| / sd of the model's answers is above 10. Gaussian errors give a median of 0.67, and a few outliers
/// do not change it much. The notes do not prevent the update. Costs one prediction.
std::vector<std::string> update_notes(const Model& model, const Examples& examples);

}  // namespace slimbayes
