#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <variant>

#include "slimbayes/bayes/law.h"

namespace slimbayes {

/// The prior N(0, sd^2), independently for every random number at a site (a matrix or a vector of a network).
struct NormalPrior {
  double sd = 1;
};

/// The prior share N(0, wide^2) + (1 - share) N(0, narrow^2), a mixture, independently for every random
/// number at a site (Blundell et al. 2015, section 3.3). `wide` and `narrow` are standard deviations.
struct MixturePrior {
  double share = 0.5;
  double wide = 1;
  double narrow = 0.0024787521766663585;  // e^-6
};

using Prior = std::variant<NormalPrior, MixturePrior>;

/// The posterior of some random numbers: a law, its location and scale (> 0) of one shape, and one draw.
struct LawValues {
  const Law& law;
  const at::Tensor &location, &scale;
  const at::Tensor& draw;  // needed where the KL has no closed form; else may be undefined
};

/// Returns KL(posterior || prior) of each element. For a NormalPrior it is in closed form. For a MixturePrior
/// it is the unbiased estimate log posterior(draw) - log prior(draw). Differentiable.
at::Tensor kl_elements(const LawValues& q, const Prior& prior);

/// Returns the scalar sum of kl_elements(). Differentiable. Faster for Gaussians on the CPU (gaussian_kl.h).
at::Tensor kl_sum(const LawValues& q, const Prior& prior);

/// Returns the scale at which a distribution of this law with location 0 is nearest to the prior in KL. For a
/// MixturePrior: nearest to its wide component.
double nearest_scale(const Law& law, const Prior& prior);

/// Returns the prior of the elements of A [m, r] and B [n, r] for which those of A B^T have the variance that
/// `dense` gives to the elements of a matrix: the sds of `dense` times a common factor. Var (A B^T)_ij = r
/// v^2 if v is the variance of an element of A and B. Without this match the variance would grow with the
/// rank.
Prior matched_to_dense(const Prior& dense, int64_t rank);

/// Returns whether kl_elements() needs LawValues::draw for this prior: true for a MixturePrior.
bool needs_draw(const Prior& prior);

nlohmann::json to_json(const Prior& prior);
/// Reads a prior from JSON. Throws std::invalid_argument for an unknown kind of prior, an sd that is not
/// above 0, or a share outside [0, 1].
Prior prior_from_json(const nlohmann::json& json);

}  // namespace slimbayes
