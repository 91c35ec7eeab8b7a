#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// A tensor's bytes as they lie in a file (copied to the CPU, row-major). Throws std::invalid_argument for a
/// type that the file does not know.
StoredTensor to_stored(const at::Tensor& x);

/// Runs `read`, which takes the contents of a file apart. What it finds wrong (DataError,
/// std::invalid_argument, NumericalError, an exception of the JSON library) becomes a DataError that begins
/// with `file`, such as "m.safetensors" or "the checkpoint 'm.ckpt'", and ends with `hint`.
void read_contents(const std::string& file, const std::string& hint, const std::function<void()>& read);

/// A copy as a CPU tensor.
at::Tensor from_stored(const StoredTensor& stored);

/// The tensor of this name. Throws DataError when the file does not hold it.
at::Tensor stored_tensor(const TensorFile& file, const std::string& name);

/// The metadata value of this key. Throws DataError when the file does not hold it.
const std::string& stored_text(const TensorFile& file, const std::string& key);

/// The metadata value of this key as JSON. Throws DataError when it is absent, malformed or nested over 32
/// deep (what recurses over it could run out of stack).
nlohmann::json stored_json(const TensorFile& file, const std::string& key);

}  // namespace slimbayes
