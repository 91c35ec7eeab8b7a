#pragma once

#include <ATen/core/Tensor.h>

#include <variant>

#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/core/count_likelihood.h"

namespace slimbayes {

/// The likelihood p(y | f) of a task. A softmax has k latent functions, every other alternative has one.
using Likelihood = std::variant<GaussianLikelihood, BernoulliLikelihood, SoftmaxLikelihood, PoissonLikelihood,
                                CoxLikelihood>;

/// expected_log_prob and log_predictive dispatch to the active alternative, with f [b, k] and y [b]
/// (undefined for a Cox process). Both throw std::invalid_argument for other shapes. [b]
at::Tensor expected_log_prob(const Likelihood& likelihood, const Latent& f, const at::Tensor& y);
at::Tensor log_predictive(const Likelihood& likelihood, const Latent& f, const at::Tensor& y);

/// Returns the answer of the active alternative in float64; f [n, k].
Predictive predictive(const Likelihood& likelihood, const Latent& f);

}  // namespace slimbayes
