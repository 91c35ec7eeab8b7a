#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes::engine {

/// Returns whether store_rows() can store it: no number is NaN, and no number of an array infinite. A model
/// that was read from a damaged file may have such numbers.
bool storable(const AnswerSpec& spec);

/// Stores a fitted model as data: adds its arrays to `file`, with names that begin with kRowsPrefix
/// (storage/model_kind.h), and returns the rest as JSON, which names them. An
/// array that the file holds already with the same bytes, such as a weight of a network, is not added again.
/// Requires storable().
nlohmann::json store_rows(const AnswerSpec& spec, TensorFile& file);

/// Returns the networks of all features in the model.
std::vector<const NetworkSpec*> networks_in(const AnswerSpec& spec);

/// Reads what store_rows() stored. The contents may be untrusted: throws std::invalid_argument or an
/// exception of the JSON library for values of another type, arrays that are absent and numbers that are not
/// finite. What makes a model of it refuses parts that do not fit each other.
AnswerSpec stored_rows(const nlohmann::json& json, const TensorFile& file);

}  // namespace slimbayes::engine
