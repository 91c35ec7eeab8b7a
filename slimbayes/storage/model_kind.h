#pragma once

#include <string>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Throws DataError unless the file was written by a fit: a model or a checkpoint. Such files have the
/// metadata key "kind". A C++ program may have saved only a posterior (Fitted::save), without the columns of
/// its data; the message then says how to read such a file. `name` is the file's name in the message.
void check_model_kind(const TensorFile& file, const std::string& name);

}  // namespace slimbayes
