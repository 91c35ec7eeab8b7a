#pragma once

#include "slimbayes/core/random.h"
#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// Adds X X^T to `gram` [r, r] for a wide X [r, numbers], in pieces that fit the memory of a product.
void add_square(const at::Tensor& x, const at::Tensor& gram);

/// Returns A^T A for A = Phi_m^T Q by r backward passes per batch of `batch` rows: the gradient of
/// sum_i Q_ic f(x_i) is column c of A. Needs no knowledge of layers; holds A, r * p numbers. `q` is [n, r]
/// float64. [r, r] float64
at::Tensor weighted_gram(const GradientModel& model, const GradientRows& rows, const at::Tensor& q,
                         int64_t batch);

/// Approximates A^T A by the same backward passes, each gradient hashed at once to `kept` numbers (a count
/// sketch, Charikar et al. 2002): parameter k is added to bucket h(k) with sign s(k), both from number k of
/// the stream. Holds r * kept numbers, and 4 bytes for each parameter. [r, r] float64
at::Tensor sketched_gram(const GradientModel& model, const GradientRows& rows, const at::Tensor& q,
                         int64_t batch, int64_t kept, const Stream& stream);

}  // namespace slimbayes
