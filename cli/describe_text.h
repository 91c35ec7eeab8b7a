#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

/// Returns a value as text that is safe to show: the values of a model file may come from anywhere. A note
/// that quotes a message loses the name of its function.
std::string plain(const nlohmann::json& value);

/// Returns a paragraph that starts `by` columns to the right and wraps to the width of help.
std::string indented(const std::string& text, size_t by);

/// Returns what a method is, without its options; with `options` also these and the preset of its paper.
nlohmann::json method_facts(const MethodInfo& info, bool options);

/// Returns what `describe METHOD` prints.
std::string method_text(const MethodInfo& info);

/// Returns the tasks as text. Those of a method that wraps another (ensemble) depend on that: which of them
/// its default takes, and a method that takes the others.
std::string task_text(const MethodInfo& info);

/// Reads the facts of a model file: its metadata, its size and the shapes of its tensors. Throws DataError
/// for a file that is not a model.
nlohmann::json model_facts(const std::string& path);

/// Returns what `describe FILE` prints of such facts.
std::string model_text(const nlohmann::json& facts);

}  // namespace slimbayes::cli
