#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Returns the scalar KL(N(location, scale^2) || N(0, prior_sd^2)), summed over all elements: the sum of
/// Law::kl_to_normal of the Gaussian law. `location` and `scale` (> 0) have one shape, else
/// std::invalid_argument is thrown. Differentiable once in both. Works in pieces that fit the processor's
/// cache and stores no tensor per term, so that its cost is a few operations for each element. Use it for
/// millions of weights in a training step.
at::Tensor gaussian_kl_sum(const at::Tensor& location, const at::Tensor& scale, double prior_sd);

}  // namespace slimbayes
