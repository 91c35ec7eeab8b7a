#pragma once

#include <ATen/core/Tensor.h>

#include <variant>

#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/core/count_likelihood.h"

namespace slimbayes {

/// p(y | f) of every task: k latent functions of a softmax, one of each other.
using Likelihood = std::variant<GaussianLikelihood, BernoulliLikelihood, SoftmaxLikelihood, PoissonLikelihood,
                                CoxLikelihood>;

/// The active alternative's; f [b, k], y [b] (undefined for a Cox process). Both throw std::invalid_argument
/// for other shapes. [b]
at::Tensor expected_log_prob(const Likelihood& likelihood, const Latent& f, const at::Tensor& y);
at::Tensor log_predictive(const Likelihood& likelihood, const Latent& f, const at::Tensor& y);

/// The answer in float64; f [n, k].
Predictive predictive(const Likelihood& likelihood, const Latent& f);

}  // namespace slimbayes
