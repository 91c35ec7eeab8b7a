#pragma once

#include <cstdint>

namespace slimbayes {

/// What a component of a density is a distribution of: the target itself, or its logarithm.
enum class TargetWarp : uint8_t { none, log };

}  // namespace slimbayes
