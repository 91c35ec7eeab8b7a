#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Returns a tensor's bytes as a file stores them (copied to the CPU, row-major). Throws
/// std::invalid_argument for an element type that the file format does not support.
StoredTensor to_stored(const at::Tensor& x);

/// Runs `read`, which interprets the contents of a file, and turns its errors into one DataError that names
/// the file. DataError, std::invalid_argument, NumericalError and exceptions of the JSON library are
/// converted; the new message begins with `file`, such as "m.safetensors" or "the checkpoint 'm.ckpt'", and
/// ends with `hint`.
void read_contents(const std::string& file, const std::string& hint, const std::function<void()>& read);

/// Returns the stored data as a new CPU tensor (a copy).
at::Tensor from_stored(const StoredTensor& stored);

/// Returns the tensor of this name. Throws DataError if the file does not contain it.
at::Tensor stored_tensor(const TensorFile& file, const std::string& name);

/// Returns the metadata value of this key. Throws DataError if the file does not contain it.
const std::string& stored_text(const TensorFile& file, const std::string& key);

/// Returns the metadata value of this key as JSON. Throws DataError if it is absent, malformed, or nested
/// more than 32 deep (recursion over a deeper value could exhaust the stack).
nlohmann::json stored_json(const TensorFile& file, const std::string& key);

}  // namespace slimbayes
