#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"

namespace slimbayes {

// Checks of a fit that need no data. The command line makes them before it loads the tensor library, and
// fit_model makes them again for other callers. Each throws std::invalid_argument.

/// Checks that the options on the target and the other columns agree. Images have neither a target nor a
/// likelihood.
void check_columns(const FitOptions& fit, InputKind kind);

/// Checks that a method with these options (all of them, as MethodInfo::resolve returns them) and its network
/// take this kind of input, and that the method takes the task. `task` is empty if only the target's column
/// could tell it.
void check_method(const MethodInfo& info, const nlohmann::json& options, InputKind kind,
                  std::optional<TaskKind> task);

/// Returns the task as far as the options tell it: that of the likelihood, classification of images; else
/// empty, because only the target's column can tell it.
std::optional<TaskKind> task_known(const FitOptions& fit, InputKind kind);

}  // namespace slimbayes
