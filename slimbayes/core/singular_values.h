#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// Functions on the singular values s [k] of a matrix [m, n], k = min(m, n), float64, in descending order.

/// Returns the singular values of a matrix [m, n], computed in float64. Throws std::invalid_argument unless
/// it is a matrix of finite numbers. [k]
at::Tensor singular_values(const at::Tensor& matrix);

/// Returns the share of the energy (the sum of squared singular values) that the best approximation of rank r
/// keeps, in [0, 1]. 1 for a matrix of zeros.
double energy_kept(const at::Tensor& s, int64_t rank);

/// Returns the least rank, at least 1, at which energy_kept() is at least `share`: energy_kept(s, r) >= share
/// holds for the returned r and no smaller one, to the last bit. Use it to choose the rank of a low-rank
/// network from a trained one. Throws std::invalid_argument unless `share` is in (0, 1].
int64_t rank_for_energy(const at::Tensor& s, double share);

/// Returns the largest rank r at which factors [m, r] and [n, r] have fewer parameters than the matrix, that
/// is r (m + n) < m n; 0 if there is none.
int64_t largest_saving_rank(int64_t m, int64_t n);

/// Returns the Frobenius norm of what the best approximation of rank r lacks, the root of the sum of squares
/// of the singular values after the r-th (Eckart and Young 1936). 0 for r >= k.
double frobenius_tail(const at::Tensor& s, int64_t rank);

/// Returns the spectral norm of what the best approximation of rank r lacks, the singular value number r + 1.
/// 0 for r >= k.
double spectral_tail(const at::Tensor& s, int64_t rank);

}  // namespace slimbayes
