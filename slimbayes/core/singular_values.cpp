#include "slimbayes/core/singular_values.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns the energy of the first 1, 2, ..., k singular values. [k]
at::Tensor energy_sums(const at::Tensor& s) { return s.square().cumsum(0); }

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
  const at::Tensor sums = energy_sums(s);
  const double all = sums[-1].item<double>();
  if (all == 0) return 1;
  if (rank < 1) return 0;
  return sums[std::min(rank, s.size(0)) - 1].item<double>() / all;
}

int64_t rank_for_energy(const at::Tensor& s, double share) {
  check(share > 0 && share <= 1, "rank_for_energy", "a share above 0 and at most 1",
        fmt::format("{}", share));
  const at::Tensor sums = energy_sums(s);
  const int64_t below = (sums < share * sums[-1]).sum().item<int64_t>();
  return std::min(below + 1, s.size(0));
}

int64_t largest_saving_rank(int64_t m, int64_t n) { return (m * n - 1) / (m + n); }

double frobenius_tail(const at::Tensor& s, int64_t rank) { return after(s, rank).norm().item<double>(); }

double spectral_tail(const at::Tensor& s, int64_t rank) {
  const at::Tensor rest = after(s, rank);
  return rest.size(0) == 0 ? 0 : rest[0].item<double>();
}

}  // namespace slimbayes
