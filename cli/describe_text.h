#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

/// Returns a JSON value as one line that is safe to print, because a model file may come from anywhere. If
/// the value is an error message of the library, the name of the function that threw it is removed.
std::string plain(const nlohmann::json& value);

/// Returns the text as a paragraph: indented by `by` columns, wrapped to text_width(), with a newline at the
/// end.
std::string indented(const std::string& text, size_t by);

/// Returns the output of `describe METHOD`.
std::string method_text(const MethodInfo& info);

/// Returns the tasks of a method as text. A method that wraps another one (ensemble) can do a task only if
/// the wrapped method can. For it, the text lists the tasks with the default wrapped method, then names
/// another wrapped method that can do the remaining tasks.
std::string task_text(const MethodInfo& info);

/// Returns the facts on a model file as JSON: its metadata, its size, the number of its parameters and the
/// shapes of its tensors. Throws DataError for a file that is not a model.
nlohmann::json model_facts(const std::string& path);

/// Returns the output of `describe FILE` for the facts that model_facts() read.
std::string model_text(const nlohmann::json& facts);

}  // namespace slimbayes::cli
