#pragma once

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

/// Returns whether the file holds a model of several targets.
bool is_joint(const TensorFile& file);

/// Throws DataError unless the file was written by a fit: a model of one target or a checkpoint. Such files
/// have the metadata key "kind". A C++ program may have saved only a posterior (Fitted::save), without the
/// columns of its data; the message then says how to read such a file. Of a model of several targets it says
/// that the file holds one, and what reads it. `name` is the file's name in the message.
void check_model_kind(const TensorFile& file, const std::string& name);

}  // namespace slimbayes
