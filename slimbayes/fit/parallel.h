#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Throws std::invalid_argument for several processes (`ranks` may be nullptr) with FitOptions::device other
/// than the CPU, and as device_of() for that device.
void check_device_of_ranks(const FitOptions& fit, const Collective* ranks);

/// Returns where the fits of each method of a comparison compute, as FitOptions::device names it: "cpu" for a
/// method that computes there alone, and "auto" for none. Tells the callback (may be nullptr) which methods
/// these are, once for all fits. Throws as check_device_of_ranks.
std::vector<std::string> devices_of(const FitOptions& fit, const std::vector<MethodChoice>& methods,
                                    const Collective* ranks, Callback* callback);

/// Throws, as together() does, unless `request` is the same JSON object on all ranks. The message names the
/// keys that differ.
void check_same_request(const Collective& ranks, const nlohmann::json& request);

}  // namespace slimbayes
