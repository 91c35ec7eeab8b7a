#include "slimbayes/answers/joint/correlation_factor.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

at::Tensor correlation_factor(const at::Tensor& correlation, int64_t k, std::string_view function) {
  constexpr double kRounding = 1e-9;
  check(k > 0, function, "at least one target", "none");
  check_shape(correlation, {k, k}, function, "correlation");
  check_finite(correlation, function, "correlation");
  const at::Tensor matrix = correlation.to(at::kDouble);
  const double skew = (matrix - matrix.t()).abs().max().item<double>(),
               off = (matrix.diagonal() - 1).abs().max().item<double>();
  if (!(skew <= kRounding && off <= kRounding))
    refuse(function, "a symmetric correlation matrix with a diagonal of 1",
           fmt::format("one that differs from its transpose by {:.3g} and whose diagonal differs from 1 by "
                       "{:.3g}",
                       skew, off));
  return safe_cholesky(matrix, 0).factor;  // without jitter: it would change the correlations
}

}  // namespace slimbayes
