#include "slimbayes/objectives/latent_posterior.h"

#include <ATen/ATen.h>

namespace slimbayes {

at::Tensor LatentPosterior::factor() const {
  return at::tril(lower, -1) + at::diag_embed(at::exp(log_diagonal));
}

Latent LatentPosterior::latent(const at::Tensor& features, const at::Tensor& offset) const {
  at::Tensor var = at::matmul(features, factor()).square().sum(-1);  // [k, b]
  return {at::addmm(offset, features, mean.t()), var.t()};
}

at::Tensor LatentPosterior::kl() const {
  at::Tensor squares = mean.square().sum() + factor().square().sum();
  return 0.5 * (squares - 2 * log_diagonal.sum() - static_cast<double>(mean.numel()));
}

}  // namespace slimbayes
