#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "slimbayes/storage/contents.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Returns the type, shape and bytes of a tensor in the form in which a model file stores them (row-major, on
/// the CPU). Throws std::invalid_argument if the file format has no such element type.
StoredTensor to_stored(const at::Tensor& x);

/// Returns the stored array as a tensor on the CPU. The elements are copied.
at::Tensor from_stored(const StoredTensor& stored);

/// Returns the tensor that the file holds under this name. Throws DataError if there is none.
at::Tensor stored_tensor(const TensorFile& file, const std::string& name);

}  // namespace slimbayes
