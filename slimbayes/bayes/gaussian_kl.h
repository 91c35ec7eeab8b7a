#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/bayes/prior.h"

namespace slimbayes {

/// Returns the scalar KL(N(location, scale^2) || N(0, prior_sd^2)), summed over all elements: the sum of
/// Law::kl_to_normal of the Gaussian law. `location` and `scale` (> 0) have one shape, else
/// std::invalid_argument is thrown. Both are on the CPU. Differentiable once in both. Works in pieces that
/// fit the processor's cache and stores no tensor per term, so that its cost is a few operations for each
/// element. Use it for millions of weights in a training step.
at::Tensor gaussian_kl_sum(const at::Tensor& location, const at::Tensor& scale, double prior_sd);

/// Returns the scalar log N(draw; location, scale^2) - log p(draw), summed over all elements, for the mixture
/// p = share N(0, wide^2) + (1 - share) N(0, narrow^2) with 0 < share < 1: the sum of kl_elements() of a
/// Gaussian law and a MixturePrior. Arguments, pieces and use as in gaussian_kl_sum(). Differentiable once in
/// all three tensors; the derivatives are computed with the value.
at::Tensor gaussian_mixture_kl_sum(const at::Tensor& draw, const at::Tensor& location,
                                   const at::Tensor& scale, const MixturePrior& prior);

}  // namespace slimbayes
