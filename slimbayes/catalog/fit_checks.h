#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"

namespace slimbayes {

// Checks of the options of a fit that need no data. The command line runs them early, before it loads the
// tensor library; resolve_fit runs them again for every fit. Each check throws std::invalid_argument.

/// Checks that the options on the target, the likelihood and the columns fit each other and the kind of
/// input. For example, images must have neither a target column nor a likelihood, and events (likelihood cox)
/// must have a domain and no target. A segmentation cannot be calibrated. Images and events have no weights,
/// and the column of the weights has no other use.
void check_columns(const FitOptions& fit, InputKind kind);

/// Checks that the method and its network take this kind of input, and that the method takes the task.
/// `options` are all options of the method, as MethodInfo::resolve returns them. `task` is empty if only the
/// target's column can tell it; it is then not checked.
void check_method(const MethodInfo& info, const nlohmann::json& options, InputKind kind,
                  std::optional<TaskKind> task);

/// Checks that the method takes the likelihood if few methods do (fact_of). Other likelihoods are known by
/// their task, which check_method checks. `options` as there.
void check_likelihood(const MethodInfo& info, const nlohmann::json& options,
                      std::optional<LikelihoodKind> likelihood);

/// Checks that the method can answer within these bounds of the target (FitOptions::bounds): one with
/// candidates, whose mixture has Student-t parts, needs both or none.
void check_bounds_of_method(const MethodInfo& info, const std::string& text);

/// Returns the task if the options determine it: classification for images and segmentation, else the task of
/// the option `likelihood`. Returns empty without a likelihood, because only the target's column can then
/// tell the task.
std::optional<TaskKind> task_known(const FitOptions& fit, InputKind kind);

}  // namespace slimbayes
