#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

// Reading the contents of a model file, which may be damaged or hostile.

/// Stands for the name of the file in a DataError of the functions that read its contents, because they do
/// not know the name; read_contents() replaces it by the real one.
inline constexpr const char* kContentsName = "model file";

/// Runs `read`, a function that interprets the contents of a file, and turns the errors that bad contents
/// cause into DataErrors that name the file. It catches DataError, std::invalid_argument, NumericalError and
/// the exceptions of the JSON library. The message of the new DataError begins with `file`, such as
/// "m.safetensors" or "the checkpoint 'm.ckpt'", and ends with `hint`, which says what the user can do.
void read_contents(const std::string& file, const std::string& hint, const std::function<void()>& read);

/// Returns the metadata text that the file holds under this key. Throws DataError if there is none.
const std::string& stored_text(const TensorFile& file, const std::string& key);

/// Returns the metadata text that the file holds under this key, parsed as JSON. Throws DataError if it is
/// absent, is not JSON, or is nested more than 32 deep: functions that recurse over a deeper value could
/// exhaust the stack.
nlohmann::json stored_json(const TensorFile& file, const std::string& key);

}  // namespace slimbayes
