#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

/// Returns a value as text that is safe to show, because a model file may come from anywhere. If it is a note
/// that quotes an error message, the function's name is removed.
std::string plain(const nlohmann::json& value);

/// Returns a paragraph that is indented by `by` columns and wrapped to the width of help.
std::string indented(const std::string& text, size_t by);

/// Returns the facts on a method; with `options` also its options and the preset of its paper.
nlohmann::json method_facts(const MethodInfo& info, bool options);

/// Returns the output of `describe METHOD`.
std::string method_text(const MethodInfo& info);

/// Returns the tasks as text. The tasks of a method that wraps another (ensemble) depend on the inner method:
/// the text lists the tasks of the default one, and a method that takes the others.
std::string task_text(const MethodInfo& info);

/// Reads the facts of a model file: its metadata, its size and the shapes of its tensors. Throws DataError
/// for a file that is not a model.
nlohmann::json model_facts(const std::string& path);

/// Returns the output of `describe FILE` for these facts.
std::string model_text(const nlohmann::json& facts);

}  // namespace slimbayes::cli
