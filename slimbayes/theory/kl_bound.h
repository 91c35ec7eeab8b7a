#pragma once

#include "slimbayes/bayes/random_weights.h"

namespace slimbayes {

/// Returns an upper bound of KL(posterior || prior) for each element of `q`, in closed form, so that it needs
/// no draws. For a NormalPrior it is the KL itself. For a mixture of components p_k with shares pi_k it is
/// the least of KL(q || p_k) - ln pi_k over k, because the mixture's density is at least pi_k p_k.
/// `location` and `scale` are those of `law`. Same shape.
at::Tensor kl_bound_elements(const Law& law, const at::Tensor& location, const at::Tensor& scale,
                             const Prior& prior);

/// Returns an upper bound of KL(posterior || prior) of all random weights: the sum of kl_bound_elements over
/// all random numbers, computed in float64. Every row of an embedding counts, also those of tokens that no
/// text contains. `plan` must be the plan of `posterior`.
double kl_bound(const WeightPosterior& posterior, const WeightPlan& plan);

}  // namespace slimbayes
