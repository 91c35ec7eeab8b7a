#include "slimbayes/methods/dense_gp/dense_gp.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/method/row_answers.h"

// With A = K + noise I and alpha = A^-1 (y - c), the gradient of the log evidence with respect to A is 1/2
// (alpha alpha^T - A^-1) (Rasmussen and Williams 2006, eq. 5.9). From A the gradient goes on in closed form.
// Let G be the derivative of the value with respect to A, M = G o K with a diagonal of zeros (K_ii = s does
// not depend on the points), and u_i = z_i / l. Then
//   d/dlog s = sum(M) + s trace G,  d/dnoise = trace G,  d/du_i = -2 (m_i u_i - (M u)_i)  with m = M 1,
//   d/dz_i = (d/du_i) / l,  d/dlog l_j = -sum_i u_ij d/du_ij.
// The sum for l_j is that of M_ik (u_ij - u_kj)^2, which needs no array of n n h numbers.
//
// Weights w, whose sum is N: the w_i copies of a row share f_i, and the product of their densities is
//   N(y_i; f_i, noise)^w_i = N(y_i; f_i, noise / w_i) (2 pi noise / w_i)^1/2 (2 pi noise)^(-w_i / 2).
// So A = K + noise diag(1 / w), and the log evidence of the copies is that of the n rows with A plus
//   -(N - n) / 2 log(2 pi noise) - 1/2 sum_i log w_i,
// a function of the noise alone: d/dnoise = sum_i G_ii / w_i + (N - n) / (2 N noise) for the value divided by
// N. The posterior of f is that of the n rows with A.

namespace slimbayes {

namespace {

// The search may run to lengthscales whose squared quotients are not finite. Long before e^-100 the kernel
// tells all different points apart, and long before e^100 none.
constexpr double kMostLog = 100;

}  // namespace

DenseHyper::DenseHyper(const at::Tensor& given, double noise_floor) {
  at::Tensor theta = given.to(at::kDouble);
  int64_t h = theta.size(0) - 3;
  lengthscale = at::exp(theta.narrow(0, 0, h).clamp(-kMostLog, kMostLog));
  amplitude = at::exp(theta.select(0, h));
  noise_var = at::exp(theta.select(0, h + 1)) + noise_floor;
  offset = theta.select(0, h + 2);
}

at::Tensor DenseHyper::kernel(const at::Tensor& a, const at::Tensor& b) const {
  return amplitude *
         at::exp(-0.5 * squared_distances(a.to(at::kDouble) / lengthscale, b.to(at::kDouble) / lengthscale));
}

at::Tensor DenseHyper::noisy_kernel(const at::Tensor& z, const at::Tensor& weights) const {
  if (weights.defined()) return kernel(z, z) + at::diag(noise_var / weights);
  return kernel(z, z) + noise_var * at::eye(z.size(0), doubles_like(z));
}

at::Tensor checked_weights(const at::Tensor& stored, int64_t n, const std::string& method) {
  at::Tensor weights = stored.to(at::kDouble);
  check_shape(weights, {n}, method, kDenseWeights);
  check_finite(weights, method, kDenseWeights);
  check(n == 0 || weights.min().item<double>() > 0, method, "weights of rows above 0", "others",
        "the model file is damaged");
  return weights;
}

at::Tensor dense_start(int64_t inputs, double log_noise) {
  at::Tensor theta = at::zeros({inputs + 3}, at::kDouble);
  theta.narrow(0, 0, inputs).fill_(0.5 * std::log(static_cast<double>(inputs)));
  theta[inputs + 1] = log_noise;
  return theta;
}

namespace {

/// Returns the rows of a block. On the CPU arrays of n numbers for each of them stay in the second cache
/// while the operations on elements pass over them one after another; a device wants large operations.
int64_t block_rows(const at::Tensor& u) { return u.device().is_cpu() ? 64 : 4096; }

/// Returns K [n, n] for the points u.
at::Tensor kernel_of(const at::Tensor& u, const at::Tensor& amplitude) {
  const int64_t n = u.size(0), block = block_rows(u);
  at::Tensor kernel = at::empty({n, n}, u.options());
  for (int64_t i = 0; i < n; i += block) {
    const int64_t rows = std::min(block, n - i);
    at::Tensor part = kernel.narrow(0, i, rows);
    at::mul_out(part, squared_distances(u.narrow(0, i, rows), u).mul_(-0.5).exp_(), amplitude);
  }
  return kernel;
}

/// The derivative of a value with respect to A = K + noise I, taken on to u, log s and log(noise - floor).
struct KernelGradient {
  at::Tensor points;  // [n, h] with respect to u
  double log_amplitude, log_noise;
};

/// The rows as a likelihood counts them.
struct RowCount {
  double total;        // N, the sum of the weights
  at::Tensor weights;  // [n]; undefined if every row counts once
};

/// Takes the derivative of -log evidence / N on from A. `inverse` is A^-1, which is used up, and `kernel` is
/// K, except for its diagonal.
KernelGradient kernel_gradient(const at::Tensor& inverse, const at::Tensor& alpha, const at::Tensor& kernel,
                               const at::Tensor& u, const DenseHyper& hyper, double noise_floor,
                               const RowCount& count) {
  const int64_t n = u.size(0), block = block_rows(u);
  const double share = 0.5 / count.total, noise = hyper.noise_var.item<double>();
  const double trace =
      share * (inverse.diagonal().sum().item<double>() - at::dot(alpha, alpha).item<double>());
  double of_noise = trace;
  if (const at::Tensor& w = count.weights; w.defined())
    of_noise = share * (((inverse.diagonal() - alpha.square()) / w).sum().item<double>() +
                        (count.total - static_cast<double>(n)) / noise);
  KernelGradient gradient{at::empty_like(u), hyper.amplitude.item<double>() * trace,
                          of_noise * (noise - noise_floor)};
  for (int64_t i = 0; i < n; i += block) {
    const int64_t rows = std::min(block, n - i);
    at::Tensor m = inverse.narrow(0, i, rows);  // G, then M
    m.addr_(alpha.narrow(0, i, rows), alpha, share, -share).mul_(kernel.narrow(0, i, rows));
    m.diagonal(i).zero_();
    const at::Tensor sums = m.sum(1);
    gradient.log_amplitude += sums.sum().item<double>();
    at::Tensor points = gradient.points.narrow(0, i, rows);
    at::mul_out(points, sums.unsqueeze(1), u.narrow(0, i, rows));
    points.addmm_(m, u, 1, -1).mul_(-2);
  }
  return gradient;
}

}  // namespace

double dense_evidence_backward(const at::Tensor& theta, const at::Tensor& z, const at::Tensor& y,
                               double noise_floor, const at::Tensor& weights) {
  at::NoGradGuard no_grad;
  const DenseHyper hyper(on_device(theta.detach(), z.device()), noise_floor);
  const int64_t h = z.size(1);
  const auto n = static_cast<double>(z.size(0));
  const at::Tensor u = z.detach().to(at::kDouble) / hyper.lengthscale;
  const at::Tensor kernel = kernel_of(u, hyper.amplitude);
  const RowCount count{weights.defined() ? weights.sum().item<double>() : n, weights};
  // A; the gradient does not need the diagonal of K
  kernel.diagonal().add_(weights.defined() ? hyper.noise_var / weights : hyper.noise_var);
  const at::Tensor factor = safe_cholesky(kernel).factor;
  const at::Tensor residual = y.detach().to(at::kDouble) - hyper.offset;
  const at::Tensor alpha = solve_cholesky(factor, residual.unsqueeze(-1)).squeeze(-1).contiguous();
  double value = 0.5 * at::dot(residual, alpha).item<double>() +
                 factor.diagonal().log().sum().item<double>() + 0.5 * n * std::log(2 * std::numbers::pi);
  if (weights.defined())
    value += 0.5 * ((count.total - n) * std::log(2 * std::numbers::pi * hyper.noise_var.item<double>()) +
                    weights.log().sum().item<double>());
  const at::Tensor inverse = at::cholesky_inverse(factor).t();  // symmetric; transposed, it lies by rows
  const KernelGradient gradient = kernel_gradient(inverse, alpha, kernel, u, hyper, noise_floor, count);

  const at::Tensor log_lengthscale = on_cpu(theta.detach().narrow(0, 0, h));
  const at::Tensor inside = (log_lengthscale >= -kMostLog).logical_and(log_lengthscale <= kMostLog);
  at::Tensor of_lengthscale = at::where(inside, -on_cpu((u * gradient.points).sum(0)), 0);
  const double of_offset = -alpha.sum().item<double>() / count.total;
  const at::Tensor rest = at::tensor({gradient.log_amplitude, gradient.log_noise, of_offset}, at::kDouble);
  const auto add = [](const at::Tensor& leaf, const at::Tensor& grad_of) {
    at::Tensor& sum = leaf.mutable_grad();
    const at::Tensor cast = grad_of.to(leaf.options());
    sum = sum.defined() ? sum.add_(cast) : cast;
  };
  add(theta, at::cat({of_lengthscale, rest}));
  if (z.requires_grad()) z.backward(gradient.points / hyper.lengthscale);
  return value / count.total;
}

DensePosterior::DensePosterior(const at::Tensor& theta, at::Tensor z, const at::Tensor& y, double noise_floor,
                               at::Tensor weights)
    : hyper_(theta, noise_floor), z_(std::move(z)), weights_(std::move(weights)) {
  at::NoGradGuard no_grad;
  Cholesky cholesky = safe_cholesky(hyper_.noisy_kernel(z_, weights_));
  factor_ = cholesky.factor;
  added_ = cholesky.jitter;
  const at::Tensor noise = weights_.defined() ? (hyper_.noise_var / weights_).mean() : hyper_.noise_var;
  jitter_ = cholesky.jitter / (hyper_.amplitude + noise).item<double>();
  at::Tensor residual = y.to(at::kDouble) - hyper_.offset;
  at::Tensor solved = at::cholesky_solve(at::stack({residual, at::ones_like(residual)}, 1), factor_);
  alpha_ = solved.select(1, 0).contiguous();
  ones_ = solved.select(1, 1).contiguous();
}

engine::KernelRows DensePosterior::kernel_rows(engine::FeatureSpec features) const {
  at::NoGradGuard no_grad;
  const double noise = hyper_.noise_var.item<double>();
  const bool weighted = weights_.defined();
  return {.features = std::move(features),
          .lengthscale = numbers_of(hyper_.lengthscale.expand({z_.size(1)})),
          .rows = numbers_of(z_.to(at::kDouble) / hyper_.lengthscale),
          .amplitude = hyper_.amplitude.item<double>(),
          .noise_var = noise,
          .offset = hyper_.offset.item<double>(),
          .diagonal = weighted ? 0 : noise + added_,
          .diagonals = weighted ? numbers_of(noise / weights_ + added_) : std::vector<double>(),
          .alpha = numbers_of(alpha_),
          .ones = numbers_of(ones_)};
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
