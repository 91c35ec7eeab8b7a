#pragma once

#include <string>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Throws DataError unless the metadata say what kind of file of a fit this is: a model or a checkpoint. Of a
/// file that Fitted::save wrote in a C++ program, a posterior without the columns of its data, the message
/// says what reads it. `name` is the file's name in the message.
void check_model_kind(const TensorFile& file, const std::string& name);

}  // namespace slimbayes
