#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <variant>

#include "slimbayes/bayes/law.h"

namespace slimbayes {

/// N(0, sd^2), independently for every random number of a site.
struct NormalPrior {
  double sd = 1;
};

/// share N(0, wide^2) + (1 - share) N(0, narrow^2), independently for every random number of a site (Blundell
/// et al. 2015, section 3.3). Both widths are sds.
struct MixturePrior {
  double share = 0.5;
  double wide = 1;
  double narrow = 0.0024787521766663585;  // e^-6
};

using Prior = std::variant<NormalPrior, MixturePrior>;

/// A law with its location and scale (above 0), which have one shape, and a draw of it.
struct LawValues {
  const Law& law;
  const at::Tensor &location, &scale;
  const at::Tensor& draw;  // used where the KL has no closed form; may be undefined otherwise
};

/// Returns KL(law || prior), element by element: in closed form for a normal prior, else its unbiased estimate
/// log q(draw) - log p(draw). Differentiable.
at::Tensor kl_elements(const LawValues& q, const Prior& prior);

/// Whether kl_elements() needs the draw.
bool needs_draw(const Prior& prior);

nlohmann::json to_json(const Prior& prior);
/// Throws std::invalid_argument for another kind of prior, an sd that is not above 0 and a share outside [0, 1].
Prior prior_from_json(const nlohmann::json& json);

}  // namespace slimbayes
