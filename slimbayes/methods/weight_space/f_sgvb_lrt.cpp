#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/sharpness_options.h"
#include "slimbayes/methods/weight_space/variational_network.h"

// f-sgvb-lrt: a mean-field network at a flat minimum (Nguyen et al. 2023), a baseline of FiD-GP.
//
// Model       That of full-rank: w ~ N(0, weight_prior_sd^2) independently.
// Estimator   Independent Gaussians q(w). A step draws the outputs of each Linear and Conv2d, every row's
//             anew (local reparametrisation, Kingma et al. 2015), which makes the gradients vary less. It
//             takes the gradient not at the parameters but `radius` uphill of them (Foret et al. 2021).
//             Answers average draws of the weights, as in full-rank.
// Cost        Four passes of full-rank's matrix products a step: mean and variance of the outputs, twice.
// When        As a baseline.
// Deviations  The uphill step moves the locations of the weights and the deterministic tensors, once for a
//             batch. A shift of a location is the same shift of every drawn weight.

namespace slimbayes {

namespace {

VariationalNetwork f_sgvb_lrt(const nlohmann::json& options) {
  const auto o = options_from_json<SharpnessOptions>(options, "f-sgvb-lrt");
  return {.method = "f-sgvb-lrt",
          .options = options_to_json(o),
          .variational = o.variational,
          .plan = [v = o.variational](const NetworkLayout& layout) { return independent_plan(layout, v); },
          .local = true,
          .sharpness = o.radius};
}

}  // namespace

RegistryRow f_sgvb_lrt_row() { return variational_row("f-sgvb-lrt", f_sgvb_lrt); }

}  // namespace slimbayes
