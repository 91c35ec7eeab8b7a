#include "slimbayes/objectives/variational.h"

#include <ATen/ATen.h>

namespace slimbayes {

at::Tensor VariationalPosterior::factor() const {
  return at::tril(lower, -1) + at::diag(at::exp(log_diagonal));
}

Latent VariationalPosterior::latent(const at::Tensor& features, const at::Tensor& offset) const {
  return {at::mv(features, mean) + offset, at::matmul(features, factor()).square().sum(-1)};
}

at::Tensor VariationalPosterior::kl() const {
  at::Tensor squares = mean.square().sum() + factor().square().sum();
  return 0.5 * (squares - 2 * log_diagonal.sum() - static_cast<double>(mean.size(0)));
}

}  // namespace slimbayes
