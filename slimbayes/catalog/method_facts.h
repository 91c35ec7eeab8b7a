#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Returns the description of an option as JSON: name, type, default, doc and source, and, if present, range,
/// choices and grid. Programs of other languages derive their keywords from it.
nlohmann::json option_facts(const OptionDoc& doc);

/// Returns the names of the kinds of input that the method takes, such as "table".
std::vector<std::string> input_names(const MethodInfo& info);

/// Returns the facts on a method as JSON: name, tasks, paper and more. With `options` it also contains the
/// method's options (option_facts) and the presets.
nlohmann::json method_facts(const MethodInfo& info, bool options);

}  // namespace slimbayes
