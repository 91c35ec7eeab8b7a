#pragma once

#include <cstdint>

#include "slimbayes/catalog/network/network_spec.h"

namespace slimbayes {

/// Returns the multiplications, each with its addition, of the matrices in one forward pass of one row; two
/// floating-point operations each. Biases, norms and activations are not counted. A sequence of any length
/// counts with one step. A method that averages S draws of its weights does S passes.
int64_t multiply_adds(const NetworkSpec& spec);

}  // namespace slimbayes
