#include "slimbayes/objectives/variational_bound.h"

#include <ATen/ATen.h>

namespace slimbayes {

namespace {

VariationalLoss with_kl(const at::Tensor& data, const WeightedKl& kl) {
  VariationalLoss loss;
  loss.data = data;
  loss.kl = kl.posterior.kl();
  loss.total = data + (kl.beta / kl.rows) * loss.kl;
  return loss;
}

}  // namespace

VariationalLoss variational_bound(const Likelihood& likelihood, const Latent& f, const at::Tensor& y,
                                  const WeightedKl& kl, DataTerm data) {
  const at::Tensor log_prob =
      data == DataTerm::expected ? expected_log_prob(likelihood, f, y) : log_predictive(likelihood, f, y);
  return with_kl(-log_prob.mean(), kl);
}

at::Tensor cox_data(const Latent& f, const at::Tensor& weights, double rows) {
  const int64_t nodes = weights.size(0), events = f.mean.size(0) - nodes;
  const at::Tensor mean = f.mean.squeeze(1), var = f.epistemic_var.squeeze(1);
  const at::Tensor integral =
      at::dot(weights, expected_intensity({mean.narrow(0, events, nodes), var.narrow(0, events, nodes)}));
  return integral / rows - mean.narrow(0, 0, events).mean();
}

VariationalLoss cox_bound(const Latent& f, const at::Tensor& weights, const WeightedKl& kl) {
  return with_kl(cox_data(f, weights, kl.rows), kl);
}

}  // namespace slimbayes
