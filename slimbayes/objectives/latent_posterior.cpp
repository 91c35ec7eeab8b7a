#include "slimbayes/objectives/latent_posterior.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

namespace slimbayes {

at::Tensor LatentPosterior::factor() const {
  return at::tril(lower, -1) + at::diag_embed(at::exp(log_diagonal));
}

Latent LatentPosterior::latent(const at::Tensor& features, const at::Tensor& offset) const {
  constexpr int64_t kHeld = int64_t{1} << 25;  // numbers of phi L held at a time, [k, b, r] in all
  at::Tensor all = factor();
  int64_t functions = std::max<int64_t>(1, kHeld / std::max<int64_t>(1, features.numel()));
  std::vector<at::Tensor> parts;
  for (const at::Tensor& some : all.split(functions))
    parts.push_back(at::matmul(features, some).square().sum(-1));
  at::Tensor var = parts.size() == 1 ? parts[0] : at::cat(parts);  // [k, b]
  return {at::addmm(offset, features, mean.t()), var.t()};
}

at::Tensor LatentPosterior::kl() const {
  at::Tensor squares = mean.square().sum() + factor().square().sum();
  return 0.5 * (squares - 2 * log_diagonal.sum() - static_cast<double>(mean.numel()));
}

}  // namespace slimbayes
