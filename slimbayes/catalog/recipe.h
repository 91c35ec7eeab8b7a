#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"

namespace slimbayes {

/// Returns all settings that decide a fit, with defaults filled in, but not its data, target, seed and
/// version of the program. `fit --dry-run` prints them. Each row of results stores them, so that rows are
/// compared only if their settings are equal. `options` are those of the method, with all defaults; `tuned`
/// names the options that a search chooses. Lists of columns are split at their commas: no table says whether
/// a name contains one.
nlohmann::json recipe(const FitOptions& fit, const MethodInfo& method, const nlohmann::json& options,
                      const std::vector<std::string>& tuned);

}  // namespace slimbayes
