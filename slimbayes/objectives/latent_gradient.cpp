#include "slimbayes/objectives/latent_gradient.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

// With A_c = Phi L_c [b, r] for function c, var_c = |A_c|^2 row by row, and g and h the derivatives of the
// data term with respect to mean and var [b, k]:
//   dA_c = 2 h_c A_c row by row, dPhi = g m + sum_c dA_c L_c^T, dL_c = Phi^T dA_c, dm = g^T Phi.
// KL adds (beta / n) m to dm, (beta / n) L_c to dL_c, and -beta / n to the derivative with respect to log
// L_ii.

namespace slimbayes {

namespace {

/// Returns the derivatives of `data` with respect to mean and variance, and its value.
std::tuple<at::Tensor, at::Tensor, at::Tensor> of_data(const Latent& f,
                                                       const std::function<at::Tensor(const Latent&)>& data) {
  const at::AutoGradMode with_grad(true);
  const Latent leaf{f.mean.detach().set_requires_grad(true),
                    f.epistemic_var.detach().set_requires_grad(true)};
  const at::Tensor loss = data(leaf);
  loss.backward();
  const auto gradient = [](const at::Tensor& of) {
    return of.grad().defined() ? of.grad() : at::zeros_like(of.detach());
  };
  return {loss.detach(), gradient(leaf.mean), gradient(leaf.epistemic_var)};
}

}  // namespace

LatentGradient latent_gradient(const at::Tensor& features, const at::Tensor& correction,
                               const at::Tensor& offset, const WeightedKl& kl,
                               const std::function<at::Tensor(const Latent& f)>& data) {
  const at::NoGradGuard no_grad;
  const at::Tensor phi = features.detach(), m = kl.posterior.mean.detach();
  const at::Tensor diagonal = kl.posterior.log_diagonal.detach().exp();
  const at::Tensor factor = kl.posterior.factor().detach();  // [k, r, r]
  at::Tensor a = at::matmul(phi, factor);                    // [k, b, r]
  at::Tensor var = at::linalg_vecdot(a, a).t();              // [b, k]
  if (correction.defined()) var = var + correction.unsqueeze(1);
  const auto [loss, of_mean, of_var] = of_data({at::addmm(offset, phi, m.t()), var}, data);

  LatentGradient out;
  const double weight = kl.beta / kl.rows;
  out.loss.data = loss;
  out.loss.kl = 0.5 * (m.square().sum() + factor.square().sum() - 2 * kl.posterior.log_diagonal.sum() -
                       static_cast<double>(m.numel()));
  out.loss.total = loss + weight * out.loss.kl;
  a.mul_((2 * of_var).t().unsqueeze(-1));  // dA
  out.grad_features = at::mm(of_mean, m);
  if (a.size(0) == 1) {
    out.grad_features.addmm_(a[0], factor[0].t());
  } else {
    out.grad_features.add_(at::bmm(a, factor.transpose(1, 2)).sum(0));
  }
  at::Tensor grad_factor = at::matmul(phi.t(), a).add_(factor, weight);  // [k, r, r]
  out.grad_log_diagonal = (grad_factor.diagonal(0, 1, 2) * diagonal).sub_(weight);
  out.grad_lower = grad_factor.tril_(-1);
  out.grad_mean = at::mm(of_mean.t(), phi).add_(m, weight);
  out.grad_offset = of_mean.sum(0);
  if (correction.defined()) out.grad_correction = of_var.sum(1);
  return out;
}

}  // namespace slimbayes
