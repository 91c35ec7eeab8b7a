#pragma once

#include <string>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Throws DataError unless the metadata say that this is a file of a fit: a model or a checkpoint. A C++
/// program may have saved a posterior alone (Fitted::save), without the columns of its data; the message then
/// says how to read it. `name` is the file's name in the message.
void check_model_kind(const TensorFile& file, const std::string& name);

}  // namespace slimbayes
