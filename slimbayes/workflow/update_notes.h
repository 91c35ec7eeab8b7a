#pragma once

#include <string>
#include <vector>

#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// Returns what a user should know of examples with a target that `model` is about to learn (Model::with,
/// Model::shard), one sentence each: what is odd in their columns (notes_for), how far they lie outside the
/// training range (outside_text), and for a regression whether their targets are of another kind: the median
/// of |y - mean| / sd of the model's answers is above 10, where Gaussian errors give 0.67. An update learns
/// such examples all the same; a median does not speak of a few outliers. Costs one prediction.
std::vector<std::string> update_notes(const Model& model, const Examples& examples);

}  // namespace slimbayes
