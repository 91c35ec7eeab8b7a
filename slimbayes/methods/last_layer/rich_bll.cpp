#include "slimbayes/methods/last_layer/last_layer.h"
#include "slimbayes/methods/last_layer/rich_bll_options.h"
#include "slimbayes/methods/last_layer/rows.h"

// rich-bll: a Bayesian last layer enriched by the gradients of the whole network (Rich-BLL, section 3;
// docs/references.md).
//
// Model       As bll, but the last layer's weights have the prior covariance s^2 (I + A^T A). With phi_r the
//             features of the last layer and phi_m the gradient of the output with respect to all earlier
//             parameters, A phi_r is the ridge regression of phi_m on phi_r over the training rows. So the
//             variance is that of the network's tangent kernel, projected on the features of the last layer.
//             It is never below bll's for the same network, noise and prior sd (Rich-BLL, theorem 3.3, which
//             holds for every A).
// Estimator   As in bll. A^T A = Q^T K_m Q with Q = Phi_r (Phi_r^T Phi_r + ridge)^+ and K_m the inner
//             products of the gradients phi_m (ntk/enrichment.h). Neither A nor the Jacobian is stored.
// Cost        A fit adds to bll's cost the smaller of n^2 (widths of the layers) and n r (parameters)
//             operations, for n rows and r features. A prediction costs the same as bll's.
// When        For a trained network whose variance must grow away from the data: bandits, out-of-distribution
//             inputs. On large data, --subsample computes the variance from fewer rows.

namespace slimbayes {

namespace {

LastLayer rich_bll(const nlohmann::json& options) {
  auto o = options_from_json<RichBllOptions>(options, "rich-bll");
  return {"rich-bll", options_to_json(o), o.network, o.posterior, /*enriched=*/true, o.route, o.ridge};
}

}  // namespace

RegistryRow rich_bll_row() { return last_layer_row("rich-bll", rich_bll); }

}  // namespace slimbayes
