#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/model/model_parts.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

// The calibration groups of a model (ModelParts::by_group) in its file: the tensors calibration.by and, with
// weights, calibration.by_weights; and the key "by" of the metadata "calibration". A model without groups has
// none of them.

/// Writes the groups into `file` and their facts into `facts`, the metadata "calibration": the column, its
/// kind, and for each group its cell (null: missing), its number of rows, and the largest level for which it
/// has a quantile of its own (0: none). Does nothing without groups.
void store_groups(const ModelParts& parts, TensorFile& file, nlohmann::json& facts);

/// Moves the groups from `file` to `parts`, whose calibration is read already. Throws std::invalid_argument
/// unless they are those of its scores, and if there are groups without FitOptions::calibrate_by or the
/// reverse, where the model is calibrated.
void take_groups(TensorFile& file, ModelParts& parts);

}  // namespace slimbayes
