#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "slimbayes/engine/features.h"

namespace slimbayes::engine {

/// Returns the features (s h, t, f) of a network whose last layer is dense: its inputs h and a constant, with
/// the multipliers s and t of the layer (without a bias there is no t), then `sketch` random features f of
/// the gradient of the network's largest output with respect to the earlier parameters. They are those of
/// ntk/gradient_sketch.h with the signs that every network has, in float32. The outputs are those of the
/// network.
///
/// The parameters are in the order of Plan::tensors() and are copied. nullptr where half of the memory at
/// hand does not hold the signs. Throws std::invalid_argument unless has_sketch(plan), and sketch is 1 to
/// 16384.
std::shared_ptr<const Features> sketch_features(const Plan& plan, std::span<const float* const> values,
                                                int64_t sketch);

/// Returns whether the network of a plan has these features: it ends in a dense layer, and has parameters in
/// dense layers and layer norms alone.
bool has_sketch(const Plan& plan);

}  // namespace slimbayes::engine
