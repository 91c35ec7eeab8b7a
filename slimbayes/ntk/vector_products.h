#pragma once

#include "slimbayes/core/random.h"
#include "slimbayes/ntk/layer_gradients.h"

namespace slimbayes {

/// Adds X X^T to `gram` [r, r] for a wide X [r, numbers]. Takes the columns of X in pieces to bound the
/// memory of a product.
void add_square(const at::Tensor& x, const at::Tensor& gram);

/// Returns A^T A for A = Phi_m^T Q by r backward passes for each batch: column c of A is the gradient of
/// sum_i Q_ic f(x_i), where f(x_i) is the chosen output of row i. The layers need not be known. Holds A,
/// which has r * p numbers. `q` is [n, r] float64, of the rows of `share`. [r, r] float64
at::Tensor weighted_gram(const PlannedRows& planned, const at::Tensor& q, const GradientShare& share);

/// Approximates A^T A by the backward passes of weighted_gram. Each gradient is reduced at once to `kept`
/// numbers by a count sketch (Charikar et al. 2002): its element k is added to bucket h(k) with sign s(k).
/// The k-th random number of the stream decides both. Holds r * kept numbers, and 4 bytes for each parameter.
/// [r, r] float64
at::Tensor sketched_gram(const PlannedRows& planned, const at::Tensor& q, int64_t kept, const Stream& stream,
                         const GradientShare& share);

}  // namespace slimbayes
