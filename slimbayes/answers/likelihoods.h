#pragma once

#include <ATen/core/Tensor.h>

#include <variant>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/count_likelihood.h"

namespace slimbayes {

/// The likelihood p(y | f) of a task. SoftmaxLikelihood has k latent functions, one per class; all others
/// have one.
using Likelihood =
    std::variant<GaussianLikelihood, StudentLikelihood, BernoulliLikelihood, SoftmaxLikelihood,
                 PoissonLikelihood, CoxLikelihood, NegativeBinomialLikelihood, ZeroInflatedPoissonLikelihood>;

/// Return E_f[log p(y | f)] and log E_f[p(y | f)] of each row, computed by the type that the variant holds.
/// f [b, k] with k = 1 except for a softmax; y [b], undefined for a Cox process. Both throw
/// std::invalid_argument if f or y has another shape, and expected_log_prob for a StudentLikelihood. [b]
at::Tensor expected_log_prob(const Likelihood& likelihood, const Latent& f, const at::Tensor& y);
at::Tensor log_predictive(const Likelihood& likelihood, const Latent& f, const at::Tensor& y);

/// Returns the predictive of n rows for the task of the likelihood: a Regression, Classes, Counts or
/// Intensity, in float64. f [n, k], with k = 1 except for a softmax.
Predictive predictive(const Likelihood& likelihood, const Latent& f);

}  // namespace slimbayes
