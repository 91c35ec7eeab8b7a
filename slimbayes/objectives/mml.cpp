#include "slimbayes/objectives/mml.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

// With H = I + Phi^T Phi / noise = L L^T, e = y - offset and the posterior mean m = H^-1 Phi^T e / noise,
//   log p(y) = -1/2 (n log(2 pi noise) + log|H| + ||e - Phi m||^2 / noise + ||m||^2),
// which is N-11 with Lambda = noise H: H >= I needs no jitter, and sums of squares do not cancel where the noise is
// tiny.

namespace slimbayes {

at::Tensor mml(const at::Tensor& features, const at::Tensor& y, const at::Tensor& offset,
               const at::Tensor& noise_var) {
  check_shape(features, {-1, -1}, "mml", "features");
  check_shape(y, {features.size(0)}, "mml", "y");
  at::Tensor phi = features.to(at::kDouble), noise = noise_var.to(at::kDouble);
  at::Tensor error = y.to(at::kDouble) - offset.to(at::kDouble);                    // [n]
  at::Tensor h = at::mm(phi.t(), phi) / noise + at::eye(phi.size(1), at::kDouble);  // [r, r]
  at::Tensor factor = safe_cholesky(h, /*tries=*/0).factor;
  at::Tensor m = solve_cholesky(factor, at::mv(phi.t(), error).unsqueeze(1) / noise).squeeze(1);  // [r]
  at::Tensor square = (error - at::mv(phi, m)).square().sum() / noise + m.square().sum();
  double n = static_cast<double>(phi.size(0));
  return -0.5 * (n * at::log(2 * std::numbers::pi * noise) + log_det(factor) + square);
}

}  // namespace slimbayes
