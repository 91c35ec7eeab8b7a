#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Adds sign Phi^T Phi to S, which stays exactly symmetric. s [r, r] float64, contiguous, changed in place;
/// phi [b, r] float64, both on the CPU. Half of the products are left out, because S is symmetric. The rows
/// are cut into parts that depend on b alone, and their sums are added in order: the result has the same
/// bits for any number of threads. O(b r^2 / 2).
void add_gram(const at::Tensor& s, const at::Tensor& phi, double sign);

}  // namespace slimbayes
