#include "slimbayes/answers/joint/copula.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/answers/joint/correlation_factor.h"
#include "slimbayes/answers/joint/normal_scores.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/threads.h"

namespace slimbayes {

at::Tensor copula_row_log_density(const at::Tensor& z, const at::Tensor& correlation) {
  check_shape(z, {-1, -1}, "copula_row_log_density", "z");
  correlation_factor(correlation, z.size(1), "copula_row_log_density");
  const at::Tensor scores = bounded_scores(z).z, matrix = correlation.to(at::kDouble);
  at::Tensor out = at::zeros({z.size(0)}, at::kDouble);
  if (z.size(0) == 0) return out;
  // The rows of each pattern of known targets lie together in `order`.
  const auto [patterns, pattern, counts] = at::unique_dim(scores.isnan().logical_not(), 0, true, true, true);
  const at::Tensor order = pattern.argsort();
  int64_t first = 0;
  for (int64_t i = 0; i < patterns.size(0); ++i) {
    const int64_t size = counts[i].item<int64_t>();
    const at::Tensor rows = order.narrow(0, first, size), columns = patterns[i].nonzero().squeeze(1);
    first += size;
    if (columns.numel() < 2) continue;
    const at::Tensor known = scores.index_select(0, rows).index_select(1, columns);
    const at::Tensor factor =
        safe_cholesky(matrix.index_select(0, columns).index_select(1, columns), 0).factor;
    const at::Tensor white = solve_lower(factor, known.t());
    out.index_copy_(0, rows, 0.5 * (known.square().sum(1) - white.square().sum(0) - log_det(factor)));
  }
  return out;
}

at::Tensor copula_scores(const at::Tensor& correlation, int64_t rows, int64_t draws, const Stream& stream) {
  constexpr int64_t kRows = 16;  // of a task of a thread
  check_shape(correlation, {-1, -1}, "copula_scores", "correlation");
  const int64_t k = correlation.size(0);
  const at::Tensor lower = correlation_factor(correlation, k, "copula_scores").contiguous();
  if (!(rows >= 0 && draws >= 0))
    refuse("copula_scores", "numbers of rows and draws of at least 0", fmt::format("{} and {}", rows, draws));
  at::Tensor out = at::empty({draws, rows, k}, at::kDouble);
  double* to = out.mutable_data_ptr<double>();
  const double* factor = lower.const_data_ptr<double>();
  // Plain loops: the bits of a matrix product may depend on the place of a row in it.
  over_range(rows, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const at::Tensor noise = stream.split(static_cast<uint64_t>(row)).normal({draws, k});
      const double* from = noise.const_data_ptr<double>();
      for (int64_t s = 0; s < draws; ++s) {
        for (int64_t j = 0; j < k; ++j) {
          double sum = 0;
          for (int64_t l = 0; l <= j; ++l) sum += factor[j * k + l] * from[s * k + l];
          to[(s * rows + row) * k + j] = sum;
        }
      }
    }
  });
  return out;
}

}  // namespace slimbayes
