#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Choices of a user that can be turned into options only when the method is known. The target's column may
/// decide the method, so they are kept until the data have been read.
struct MethodChoices {
  std::string preset;  // "paper": the options of the method's paper; "": the defaults
  bool tune = false;   // tune every option that has a grid and that the user did not set
};

/// The options of one method after the choices were applied.
struct ChosenOptions {
  nlohmann::json options;         // every option of the method, with preset and defaults
  std::vector<std::string> tune;  // options that a grid search chooses; empty without MethodChoices::tune
};

/// Applies the choices to a method: the defaults, overwritten by the preset, overwritten by `given`, which
/// are the options that the user set. The command line calls it early, with the likely method if none is
/// named; resolve_fit calls it again with the final method. Throws as preset_options and tunable_options.
SLIMBAYES_EXPORT ChosenOptions choose_options(const MethodInfo& method, const nlohmann::json& given,
                                              const MethodChoices& choices);

}  // namespace slimbayes
