#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"

namespace slimbayes {

/// Returns all settings that decide a fit, with defaults filled in, except its data, target, seed and the
/// version of the program. `fit --dry-run` prints them. The rows of experiment results store them, so that
/// only rows with equal settings are compared. `options` are those of the method, with all defaults; `tuned`
/// names the options that a grid search chooses. An option that is a list, such as `ignore`, is split at its
/// commas. A column whose name contains a comma is split too, because no table is read here.
nlohmann::json recipe(const FitOptions& fit, const MethodInfo& method, const nlohmann::json& options,
                      const std::vector<std::string>& tuned);

}  // namespace slimbayes
