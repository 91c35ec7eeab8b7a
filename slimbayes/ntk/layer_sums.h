#pragma once

#include "slimbayes/ntk/layer_gradients.h"

namespace slimbayes {

/// Returns A^T A for A = Phi_m^T Q from the weighted sums of each layer's gradients, sum_i Q_ic g_i, which
/// are matrix products of Q with the values of the taps. Takes one forward and one backward pass for each
/// row, for any r. Holds A, which has r * p numbers, and blocks of rows from gradient_blocks, of at most
/// `kept` bytes but at least one row. Every layer must be known to the plan. `q` is [n, r] float64. [r, r]
/// float64
at::Tensor summed_gram(const PlannedRows& planned, const at::Tensor& q, int64_t kept);

}  // namespace slimbayes
