#pragma once

#include <ATen/core/Tensor.h>

#include <variant>

#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/core/count_likelihood.h"

namespace slimbayes {

/// The likelihoods whose posterior is no Gaussian: one latent function, k of a softmax.
using Likelihood = std::variant<BernoulliLikelihood, SoftmaxLikelihood, PoissonLikelihood>;

/// Of the likelihood that is there; f [b, k]. [b]
at::Tensor expected_log_prob(const Likelihood& likelihood, const Latent& f, const at::Tensor& y);
at::Tensor log_predictive(const Likelihood& likelihood, const Latent& f, const at::Tensor& y);

/// In float64; f [n, k].
Predictive predictive(const Likelihood& likelihood, const Latent& f);

}  // namespace slimbayes
