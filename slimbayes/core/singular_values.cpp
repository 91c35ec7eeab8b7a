#include "slimbayes/core/singular_values.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns the shares of the energy that ranks 1, 2, ..., k keep. All 1 for a matrix of zeros. [k]
at::Tensor energy_shares(const at::Tensor& s) {
  const at::Tensor sums = s.square().cumsum(0);
  return sums[-1].item<double>() == 0 ? at::ones_like(sums) : sums / sums[-1];
}

/// Returns the singular values after the r-th. [max(0, k - r)]
at::Tensor after(const at::Tensor& s, int64_t rank) {
  const int64_t from = std::clamp<int64_t>(rank, 0, s.size(0));
  return s.narrow(0, from, s.size(0) - from);
}

}  // namespace

at::Tensor singular_values(const at::Tensor& matrix) {
  check_shape(matrix, {-1, -1}, "singular_values", "matrix");
  check_finite(matrix, "singular_values", "matrix");
  return at::linalg_svdvals(matrix.to(at::kDouble));
}

double energy_kept(const at::Tensor& s, int64_t rank) {
  const at::Tensor shares = energy_shares(s);
  if (rank < 1) return spectral_tail(s, 0) == 0 ? 1 : 0;
  return shares[std::min(rank, s.size(0)) - 1].item<double>();
}

int64_t rank_for_energy(const at::Tensor& s, double share) {
  if (!(share > 0 && share <= 1))
    refuse("rank_for_energy", "a share above 0 and at most 1", fmt::format("{}", share));
  return (energy_shares(s) < share).sum().item<int64_t>() + 1;  // the last share is 1
}

int64_t largest_saving_rank(int64_t m, int64_t n) { return (m * n - 1) / (m + n); }

double frobenius_tail(const at::Tensor& s, int64_t rank) { return after(s, rank).norm().item<double>(); }

double spectral_tail(const at::Tensor& s, int64_t rank) {
  const at::Tensor rest = after(s, rank);
  return rest.size(0) == 0 ? 0 : rest[0].item<double>();
}

}  // namespace slimbayes
