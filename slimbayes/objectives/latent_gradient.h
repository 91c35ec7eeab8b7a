#pragma once

#include <functional>

#include "slimbayes/objectives/variational_bound.h"

namespace slimbayes {

/// The loss of a batch and its gradient. The caller propagates grad_features and grad_correction back through
/// the expansion and the network; the other gradients are those of the head's parameters.
struct LatentGradient {
  VariationalLoss loss;
  at::Tensor grad_features;      // [b, r]
  at::Tensor grad_correction;    // [b]; undefined if the expansion has no correction
  at::Tensor grad_mean;          // [k, r]
  at::Tensor grad_log_diagonal;  // [k, r]
  at::Tensor grad_lower;         // [k, r, r], strictly lower triangular
  at::Tensor grad_offset;        // [k]
};

/// Returns the loss data(f) + beta / n KL of any likelihood and its gradient, where f are the posteriors of
/// the latent functions at the rows of a batch (variational_posterior.h). Automatic differentiation sees
/// `data` alone, a function of the means and variances [b, k] that returns a scalar; what lies before them,
/// all products with features and factors, is in closed form. features [b, r]; `correction` [b] is added to
/// every variance, undefined: nothing is; offset [k].
LatentGradient latent_gradient(const at::Tensor& features, const at::Tensor& correction,
                               const at::Tensor& offset, const WeightedKl& kl,
                               const std::function<at::Tensor(const Latent& f)>& data);

}  // namespace slimbayes
