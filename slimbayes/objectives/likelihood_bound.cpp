#include "slimbayes/objectives/likelihood_bound.h"

#include <ATen/ATen.h>

namespace slimbayes {

namespace {

VariationalLoss with_kl(const at::Tensor& data, const LatentPosterior& posterior, int64_t rows, double beta) {
  VariationalLoss loss;
  loss.data = data;
  loss.kl = posterior.kl();
  loss.total = data + (beta / static_cast<double>(rows)) * loss.kl;
  return loss;
}

}  // namespace

VariationalLoss likelihood_bound(const Likelihood& likelihood, const Latent& f, const at::Tensor& y,
                                 const LatentPosterior& posterior, int64_t rows, double beta) {
  return with_kl(-expected_log_prob(likelihood, f, y).mean(), posterior, rows, beta);
}

VariationalLoss cox_bound(const at::Tensor& event_mean, const Latent& nodes, const at::Tensor& weights,
                          const LatentPosterior& posterior, int64_t rows, double beta) {
  at::Tensor integral = at::dot(weights, expected_intensity(nodes));
  return with_kl(integral / static_cast<double>(rows) - event_mean.mean(), posterior, rows, beta);
}

}  // namespace slimbayes
