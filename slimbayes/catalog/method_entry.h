#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes {

// What the families' methods.cpp write a MethodInfo with.

/// Returns all kinds of input, for a method that reads them through its network.
std::vector<InputKind> every_input();

/// Returns all tasks, for a method that takes any likelihood.
std::vector<TaskKind> every_task();

/// Returns the facts that methods with a network have in common: every kind of input (images only if the
/// method classifies), inputs scaled to min-max, resumable.
MethodInfo network_method(std::string name, std::vector<TaskKind> tasks = {TaskKind::regression});

/// Returns the preset "paper", the settings of the method's paper, from several groups of options. Later
/// groups overwrite earlier ones.
Preset paper_preset(std::initializer_list<nlohmann::json> groups);

/// Sets the docs of the options O and the function that checks them. Both derive from describe(O&). Set the
/// name before: messages begin with it.
template <class O>
MethodInfo with_options(MethodInfo info) {
  info.options = option_docs<O>();
  info.resolve = [name = info.name](const nlohmann::json& given) {
    return options_to_json(options_from_json<O>(given, name));
  };
  return info;
}

}  // namespace slimbayes
