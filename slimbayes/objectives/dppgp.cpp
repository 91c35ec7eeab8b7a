#include "slimbayes/objectives/dppgp.h"

#include <ATen/ATen.h>

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

}  // namespace slimbayes
