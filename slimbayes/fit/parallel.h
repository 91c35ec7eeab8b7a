#pragma once

#include <c10/core/Device.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Throws std::invalid_argument for another device than the CPU where several processes make a fit.
void check_device_of_ranks(at::Device device, bool several);

/// Returns a note if `asked` (FitOptions::device) is "auto" and the device found for it is the CPU, else "".
std::string no_gpu_note(std::string_view asked, at::Device found);

/// Returns where the fits of each method of a comparison compute, as FitOptions::device names it: "cpu" for a
/// method that computes there alone, and "auto" for none. Tells the callback (may be nullptr) which methods
/// these are, once for all fits. Throws as device_of() and check_device_of_ranks().
std::vector<std::string> devices_of(const FitOptions& fit, const std::vector<MethodChoice>& methods,
                                    const Collective* ranks, Callback* callback);

/// Throws, as together() does, unless `request` is the same JSON object on all ranks. The message names the
/// keys that differ.
void check_same_request(const Collective& ranks, const nlohmann::json& request);

}  // namespace slimbayes
