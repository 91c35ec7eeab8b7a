#pragma once

#include <cstdint>

namespace slimbayes {

/// What a component of a density is a distribution of: a number t without bounds, of which the target is an
/// increasing function with a shift and a scale.
///   none       y = shift + scale t
///   log        y = shift + scale exp(t), above `shift`
///   log_below  y = shift - scale exp(-t), below `shift`
///   logit      y = shift + scale / (1 + exp(-t)), between `shift` and shift + scale
enum class TargetWarp : uint8_t { none, log, log_below, logit };

}  // namespace slimbayes
