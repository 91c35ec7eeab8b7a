#include "slimbayes/objectives/dppgp.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

namespace slimbayes {

DppgpLoss dppgp(const at::Tensor& features, const at::Tensor& y, const VariationalPosterior& posterior,
                const at::Tensor& offset, const at::Tensor& noise_var, int64_t rows, double alpha,
                double beta) {
  DppgpLoss loss;
  GaussianLikelihood likelihood{noise_var};
  loss.data = -likelihood.log_predictive(posterior.latent(features, offset), y).mean();
  at::Tensor prior_var = features.square().sum(-1);  // ||phi||^2 [b]
  loss.trace = (prior_var.max() - prior_var.mean()) / (2 * noise_var);
  loss.kl = posterior.kl();
  loss.total = loss.data + alpha * loss.trace + (beta / static_cast<double>(rows)) * loss.kl;
  return loss;
}

// With A = Phi L, v_i = |A_i|^2 + noise and e_i = y_i - mean_i the data term is the mean of 1/2 (log 2 pi v +
// e^2 / v), so dv_i = (1 - e_i^2 / v_i) / (2 b v_i), dmean_i = -e_i / (b v_i); the trace adds alpha / noise
// (1[i = argmax] - 1/b) Phi_i.
DppgpGradient dppgp_gradient(const at::Tensor& features, const at::Tensor& y,
                             const VariationalPosterior& posterior, const at::Tensor& offset,
                             const at::Tensor& noise_var, int64_t rows, double alpha, double beta,
                             double focus) {
  at::NoGradGuard no_grad;
  const at::Tensor& phi = features;
  double b = static_cast<double>(phi.size(0)), r = static_cast<double>(phi.size(1));
  double noise = noise_var.item<double>(), kl_weight = beta / static_cast<double>(rows);
  at::Tensor diagonal = at::exp(posterior.log_diagonal);
  at::Tensor factor = at::tril(posterior.lower, -1);
  factor.diagonal().copy_(diagonal);

  at::Tensor a = at::mm(phi, factor);                               // [b, r]
  at::Tensor var = at::linalg_vecdot(a, a).add_(noise);             // v [b]
  at::Tensor error = y - at::mv(phi, posterior.mean).add_(offset);  // e [b]
  at::Tensor weighted = error / var;                                // e / v [b]
  at::Tensor surprise = weighted * error;                           // e^2 / v [b]
  at::Tensor grad_var = (1 - surprise).div_(var).mul_(0.5 / b);     // [b]
  at::Tensor row_loss = at::log(var).add_(surprise).add_(std::log(2 * std::numbers::pi)).mul_(0.5);  // [b]
  if (focus > 0) {
    at::Tensor weight = at::pow(var, focus);
    weight.div_(weight.mean());
    grad_var.mul_(weight);
    weighted.mul_(weight);
    row_loss.mul_(weight);
  }
  at::Tensor prior_var = at::linalg_vecdot(phi, phi);  // |phi|^2 [b]
  auto [most, which] = prior_var.max(0);
  double spread = most.item<double>() - prior_var.mean().item<double>();

  DppgpGradient out;
  out.loss.data = row_loss.mean();
  out.loss.trace = at::full({}, spread / (2 * noise), phi.options());
  at::Tensor squares = at::dot(posterior.mean, posterior.mean) + factor.square().sum();
  out.loss.kl = (squares - 2 * posterior.log_diagonal.sum() - r).mul_(0.5);
  out.loss.total = out.loss.data + alpha * out.loss.trace + kl_weight * out.loss.kl;

  at::Tensor grad_a = a.mul_((2 * grad_var).unsqueeze_(-1));  // [b, r]
  at::Tensor grad_f = weighted.mul_(-1 / b);                  // dmean [b]
  out.grad_features =
      at::mm(grad_a, factor.t()).addr_(grad_f, posterior.mean).add_(phi, -alpha / (noise * b));
  out.grad_features.select(0, which.item<int64_t>())
      .add_(phi.select(0, which.item<int64_t>()), alpha / noise);
  out.grad_mean = at::mv(phi.t(), grad_f).add_(posterior.mean, kl_weight);
  at::Tensor grad_factor = at::mm(phi.t(), grad_a).add_(factor, kl_weight);  // [r, r]
  out.grad_log_diagonal = (grad_factor.diagonal() * diagonal).sub_(kl_weight);
  out.grad_lower = grad_factor.tril_(-1);
  out.grad_offset = grad_f.sum();
  out.grad_noise_var = grad_var.sum() - alpha * spread / (2 * noise * noise);
  return out;
}

}  // namespace slimbayes
