#pragma once

#include <cstdint>

#include "slimbayes/catalog/network/network_spec.h"

namespace slimbayes {

/// Returns the number of multiply-add pairs (two floating-point operations each) of all matrix products in
/// one forward pass of one row. Biases, norms and activations are not counted. A sequence of any length
/// counts as one step. For a method that averages S draws of its weights, multiply by S.
int64_t multiply_adds(const NetworkSpec& spec);

}  // namespace slimbayes
