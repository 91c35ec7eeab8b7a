#include "slimbayes/objectives/variational_posterior.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

namespace slimbayes {

at::Tensor VariationalPosterior::factor() const {
  return at::tril(lower, -1) + at::diag_embed(at::exp(log_diagonal));
}

Latent VariationalPosterior::latent(const at::Tensor& features, const at::Tensor& offset) const {
  return latent(features, offset, factor());
}

Latent VariationalPosterior::latent(const at::Tensor& features, const at::Tensor& offset,
                                    const at::Tensor& factor) const {
  constexpr int64_t kHeld = int64_t{1} << 25;  // numbers of phi L [k, b, r] held at a time
  const int64_t functions = std::max<int64_t>(1, kHeld / std::max<int64_t>(1, features.numel()));
  if (factor.size(0) == 1)
    return {at::addmm(offset, features, mean.t()),
            at::mm(features, factor.squeeze(0)).square().sum(-1, /*keepdim=*/true)};
  std::vector<at::Tensor> parts;
  for (const at::Tensor& some : factor.split(functions))
    parts.push_back(at::matmul(features, some).square().sum(-1));
  const at::Tensor var = parts.size() == 1 ? parts[0] : at::cat(parts);  // [k, b]
  return {at::addmm(offset, features, mean.t()), var.t()};
}

at::Tensor VariationalPosterior::kl() const {
  const at::Tensor squares = mean.square().sum() + factor().square().sum();
  return 0.5 * (squares - 2 * log_diagonal.sum() - static_cast<double>(mean.numel()));
}

}  // namespace slimbayes
