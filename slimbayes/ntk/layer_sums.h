#pragma once

#include "slimbayes/ntk/layer_gradients.h"

namespace slimbayes {

/// Returns A^T A for A = Phi_m^T Q. Column c of A is the weighted sum of the rows' gradients g_i, sum_i Q_ic
/// g_i. It is computed for each layer by matrix products of Q with the layer's inputs and deltas. Takes one
/// forward and one backward pass for each row, however large r is. Holds A, which has r * p numbers, and
/// blocks of rows from gradient_blocks, of at most `kept` bytes but at least one row. There must be a formula
/// for every layer: plan.unknown is empty. `q` is [n, r] float64, of the rows of `share`. [r, r] float64
at::Tensor summed_gram(const PlannedRows& planned, const at::Tensor& q, int64_t kept,
                       const GradientShare& share);

}  // namespace slimbayes
