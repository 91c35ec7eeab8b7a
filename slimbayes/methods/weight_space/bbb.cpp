#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/variational_network.h"

// bbb: Bayes by Backprop, a mean-field posterior over the weights (Blundell et al. 2015).
//
// Model       w ~ N(0, weight_prior_sd^2) independently.
// Estimator   Independent Gaussians q(w) (methods/weight_space/variational_network.cpp).
// Random      Every matrix and every bias. The scales and shifts of norms and the positions of tokens are
//             deterministic: a prior with mean 0 would pull the scales, and so the layer's output, to 0.
// Cost        Twice dnn's per step, and up to 8 passes over the validation rows for each validation. A
//             prediction costs `draws` passes; the model file is as large as two networks.
// When        As a baseline. The prior pulls the means towards zero, so small tables are underfitted.

namespace slimbayes {

namespace {

VariationalNetwork bbb(const nlohmann::json& options) {
  const auto o = options_from_json<VariationalOptions>(options, "bbb");
  return {"bbb", options_to_json(o), o,
          [o](const NetworkLayout& layout) { return independent_plan(layout, o); }};
}

}  // namespace

RegistryRow bbb_row() { return variational_row("bbb", bbb); }

}  // namespace slimbayes
