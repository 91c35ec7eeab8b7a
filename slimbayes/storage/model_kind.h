#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// What a model file holds for serving alone (serve/serve_file.h): a metadata key, and the start of the names
/// of tensors.
inline constexpr std::string_view kServeKey = "serve", kRowsPrefix = "rows.";

/// The metadata "kind" of a model of several targets (model/joint/joint_model.h), and the key under which it
/// has their names, a JSON list.
inline constexpr const char *kJointKind = "joint-model", *kJointTargets = "targets";

/// What such a file has beside the models: the metadata key of its facts, and names of tensors. A calibrated
/// model has scores of its region, and groups of them if some rows have identical inputs.
inline constexpr const char *kJointFacts = "joint", *kJointCorrelation = "joint.correlation";
inline constexpr const char *kRegionScores = "joint.region.scores", *kRegionGroups = "joint.region.groups",
                            *kRegionWeights = "joint.region.weights";

/// Returns whether the file holds a model of several targets.
bool is_joint(const TensorFile& file);

/// Returns the start of the names under which a file of several targets holds the model of one of them, which
/// is numbered from 0: "target.1." of the first.
std::string prefix_of_target(size_t target);

/// Returns the file of the model of this target: what a file of several targets holds under its prefix.
TensorFile file_of_target(const TensorFile& file, size_t target);

/// Throws DataError unless the file was written by a fit: a model of one target or a checkpoint. Such files
/// have the metadata key "kind". A C++ program may have saved only a posterior (Fitted::save), without the
/// columns of its data; the message then says how to read such a file. Of a model of several targets it says
/// that the file holds one, and what reads it. `name` is the file's name in the message.
void check_model_kind(const TensorFile& file, const std::string& name);

}  // namespace slimbayes
