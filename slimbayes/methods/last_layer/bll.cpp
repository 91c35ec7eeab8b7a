#include "slimbayes/methods/last_layer/bll_options.h"
#include "slimbayes/methods/last_layer/last_layer.h"
#include "slimbayes/methods/last_layer/rows.h"

// bll: a Bayesian last layer on a trained network (Rich-BLL, section 2; docs/references.md).
//
// Model       f(x) has the mean network(x) and the variance phi_r^T (Phi_r^T Phi_r / sigma2 + I / s^2)^-1
//             phi_r, where phi_r are the inputs of the output layer at x and the rows of Phi_r those of the
//             training rows; y = f + noise. For classes the logits are Gaussian.
// Estimator   The network is trained as in dnn, or is given. The noise variance sigma2 is the value with the
//             least validation NLL. The prior sd s is set so that the prior sd of f equals the target's sd on
//             average over the training rows. The options select, noise and prior can choose otherwise.
// Cost        dnn's, then O(n r^2 + r^3) for n rows and r features. A prediction costs one pass and O(r^2).
// When        To get error bars for a trained network at once. The variance ignores all layers but the last
//             and is too small far from the data; rich-bll corrects this at the same cost of prediction.

namespace slimbayes {

namespace {

LastLayer bll(const nlohmann::json& options) {
  auto o = options_from_json<BllOptions>(options, "bll");
  return {"bll", options_to_json(o), o.network, o.posterior, /*enriched=*/false};
}

}  // namespace

RegistryRow bll_row() { return last_layer_row("bll", bll); }

}  // namespace slimbayes
