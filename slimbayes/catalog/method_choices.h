#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes {

/// Choices of a fit that depend on its method, which the target's task may still decide.
struct MethodChoices {
  std::string preset;  // "paper", or "" for the defaults
  bool tune = false;   // tune every option that has a grid and is not among the given ones
};

/// The options that such choices lead to.
struct ChosenOptions {
  nlohmann::json options;         // every option of the method: preset_options()
  std::vector<std::string> tune;  // options that a search chooses: tunable_options(); empty without `tune`
};

/// Returns the options of a method that `given` and the choices lead to. The command line calls it where a
/// flag names the method, a fit once its method is known. Throws as preset_options and tunable_options.
ChosenOptions choose_options(const MethodInfo& method, const nlohmann::json& given,
                             const MethodChoices& choices);

}  // namespace slimbayes
