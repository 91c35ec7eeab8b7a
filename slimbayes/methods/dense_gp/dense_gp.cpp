#include "slimbayes/methods/dense_gp/dense_gp.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numbers>

#include "slimbayes/core/linalg.h"

// With A = K + noise I and alpha = A^-1 (y - c), the gradient of the log evidence with respect to A is 1/2
// (alpha alpha^T - A^-1) (Rasmussen and Williams 2006, eq. 5.9). Automatic differentiation takes it from A
// back to the hyperparameters and z. The factorisation of A therefore needs no graph.

namespace slimbayes {

DenseHyper::DenseHyper(const at::Tensor& given, double noise_floor) {
  at::Tensor theta = given.to(at::kDouble);
  int64_t h = theta.size(0) - 3;
  // The search may run to lengthscales whose squared quotients are not finite. Long before e^-100 the kernel
  // tells all different points apart, and long before e^100 none.
  lengthscale = at::exp(theta.narrow(0, 0, h).clamp(-100, 100));
  amplitude = at::exp(theta.select(0, h));
  noise_var = at::exp(theta.select(0, h + 1)) + noise_floor;
  offset = theta.select(0, h + 2);
}

at::Tensor DenseHyper::kernel(const at::Tensor& a, const at::Tensor& b) const {
  return amplitude *
         at::exp(-0.5 * squared_distances(a.to(at::kDouble) / lengthscale, b.to(at::kDouble) / lengthscale));
}

at::Tensor DenseHyper::noisy_kernel(const at::Tensor& z) const {
  return kernel(z, z) + noise_var * at::eye(z.size(0), at::kDouble);
}

at::Tensor dense_start(int64_t inputs, double log_noise) {
  at::Tensor theta = at::zeros({inputs + 3}, at::kDouble);
  theta.narrow(0, 0, inputs).fill_(0.5 * std::log(static_cast<double>(inputs)));
  theta[inputs + 1] = log_noise;
  return theta;
}

double dense_evidence_backward(const at::Tensor& theta, const at::Tensor& z, const at::Tensor& y,
                               double noise_floor) {
  DenseHyper hyper(theta, noise_floor);
  at::Tensor a = hyper.noisy_kernel(z);
  double n = static_cast<double>(z.size(0)), value;
  at::Tensor grad_a, grad_offset;
  {
    at::NoGradGuard no_grad;
    at::Tensor factor = safe_cholesky(a.detach()).factor;
    at::Tensor residual = y.to(at::kDouble) - hyper.offset;
    at::Tensor alpha = at::cholesky_solve(residual.unsqueeze(-1), factor).squeeze(-1);
    value = 0.5 * at::dot(residual, alpha).item<double>() + factor.diagonal().log().sum().item<double>() +
            0.5 * n * std::log(2 * std::numbers::pi);
    grad_a = (at::cholesky_inverse(factor) - at::outer(alpha, alpha)) / (2 * n);
    grad_offset = -alpha.sum() / n;
  }
  ((a * grad_a).sum() + hyper.offset * grad_offset).backward();
  return value / n;
}

DensePosterior::DensePosterior(const at::Tensor& theta, at::Tensor z, const at::Tensor& y, double noise_floor)
    : hyper_(theta, noise_floor), z_(std::move(z)) {
  at::NoGradGuard no_grad;
  Cholesky cholesky = safe_cholesky(hyper_.noisy_kernel(z_));
  factor_ = cholesky.factor;
  jitter_ = cholesky.jitter / (hyper_.amplitude + hyper_.noise_var).item<double>();
  at::Tensor residual = y.to(at::kDouble) - hyper_.offset;
  at::Tensor solved = at::cholesky_solve(at::stack({residual, at::ones_like(residual)}, 1), factor_);
  alpha_ = solved.select(1, 0).contiguous();
  ones_ = solved.select(1, 1).contiguous();
}

Regression DensePosterior::operator()(const at::Tensor& z) const {
  at::NoGradGuard no_grad;
  at::Tensor cross = hyper_.kernel(z, z_);  // [b, n]
  at::Tensor mean = at::mv(cross, alpha_) + hyper_.offset;
  at::Tensor explained = at::linalg_solve_triangular(factor_, cross.t(), false).square().sum(0);  // [b]
  RoundedVariance epistemic = rounded_variance(hyper_.amplitude - explained, hyper_.amplitude);
  at::Tensor of_offset = (1 - at::mv(cross, ones_)).square() / ones_.sum();
  return {mean, hyper_.noise_var.expand_as(mean), epistemic.var + of_offset, epistemic.clipped};
}

}  // namespace slimbayes
