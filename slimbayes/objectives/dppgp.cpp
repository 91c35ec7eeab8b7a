#include "slimbayes/objectives/dppgp.h"

#include <ATen/ATen.h>

namespace slimbayes {

VariationalLoss dppgp(const at::Tensor& features, const at::Tensor& y, const VariationalPosterior& posterior,
                      const at::Tensor& offset, const at::Tensor& noise_var, int64_t rows, double alpha,
                      double beta) {
  VariationalLoss loss;
  GaussianLikelihood likelihood{noise_var};
  loss.data = -likelihood.log_predictive(posterior.latent(features, offset), y).mean();
  loss.kl = posterior.kl();
  loss.total = loss.data + alpha * trace_regulariser(features, noise_var) +
               (beta / static_cast<double>(rows)) * loss.kl;
  return loss;
}

}  // namespace slimbayes
