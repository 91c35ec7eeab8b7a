#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Throws, as together() does, unless `request` is the same JSON object on all ranks. The message names the
/// keys that differ.
void check_same_request(const Collective& ranks, const nlohmann::json& request);

}  // namespace slimbayes
