#include "slimbayes/core/identity_plus.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

IdentityPlus identity_plus(const at::Tensor& a, double c) {
  constexpr double kModerate = 1e10;  // up to this size, rounding errors of c A are below 1e-5
  check_shape(a, {-1, -1}, "identity_plus", "matrix");
  if (!(c >= 0 && std::isfinite(c))) refuse("identity_plus", "a finite c >= 0", fmt::format("{}", c));
  const at::Tensor scaled = c * a;
  if (a.size(0) == 0 || !(scaled.diagonal().max().item<double>() > kModerate)) {
    scaled.diagonal().add_(1);
    return {safe_cholesky(scaled, /*tries=*/0).factor};
  }
  const auto [values, vectors] = spectrum(a);
  return {{}, 1 + c * resolved(values), vectors};
}

at::Tensor solve_half(const IdentityPlus& h, const at::Tensor& x) {
  if (h.factor.defined()) return solve_lower(h.factor, x);
  return h.vectors.t().mm(x) / h.values.sqrt().unsqueeze(1);
}

at::Tensor solve(const IdentityPlus& h, const at::Tensor& x) {
  if (h.factor.defined()) return solve_cholesky(h.factor, x);
  const at::Tensor inverse = at::where(h.values > 1, h.values.reciprocal(), at::zeros_like(h.values));
  return h.vectors.mm(inverse.unsqueeze(1) * h.vectors.t().mm(x));
}

at::Tensor inverse(const IdentityPlus& h) {
  if (h.factor.defined()) return at::cholesky_inverse(h.factor);
  const at::Tensor half = h.vectors / h.values.sqrt();
  return half.mm(half.t());
}

at::Tensor log_det(const IdentityPlus& h) {
  return h.factor.defined() ? log_det(h.factor) : h.values.log().sum();
}

at::Tensor resolved(const at::Tensor& values) {
  if (values.size(0) == 0) return values;
  const double rounding = 16 * static_cast<double>(values.size(0)) * std::numeric_limits<double>::epsilon();
  return at::where(values > rounding * values.max(), values, at::zeros_like(values));
}

}  // namespace slimbayes
