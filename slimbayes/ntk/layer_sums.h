#pragma once

#include "slimbayes/ntk/layer_gradients.h"

namespace slimbayes {

/// Returns A^T A for A = Phi_m^T Q from the weighted sums of each layer's gradients, sum_i Q_ic g_i, which
/// are matrix products of Q with what the taps hold. One forward and one backward pass for each row, whatever
/// r is. Holds A, r * p numbers, and blocks of rows as gradient_blocks returns them, of at most `kept` bytes
/// but at least one row. For the layers that the plan knows. `q` is [n, r] float64. [r, r] float64
at::Tensor summed_gram(const GradientModel& model, const GradientPlan& plan, const GradientRows& rows,
                       const at::Tensor& q, int64_t kept);

}  // namespace slimbayes
