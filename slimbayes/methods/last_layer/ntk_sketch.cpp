#include "slimbayes/methods/last_layer/last_layer.h"
#include "slimbayes/methods/last_layer/ntk_sketch_options.h"
#include "slimbayes/methods/last_layer/rows.h"

// ntk-sketch: a Bayesian linear model on random features of the gradient of a trained network.
//
// Model       f(x) has the mean network(x) and the variance of w^T phi(x) with w ~ N(0, s^2 I) given the
//             rows. phi(x) holds the features of the last layer, which are the gradient with respect to its
//             weights, and q random features of the gradient with respect to all earlier parameters
//             (ntk/gradient_sketch.h). So the prior covariance approximates that of ntk-gp, whose kernel is
//             the inner product of the gradients, with an error that falls as 1 / sqrt(q). For classes the
//             gradient is that of the predicted class's logit, as in rich-bll, and each logit has its own
//             posterior.
// Estimator   As in bll, with q + r features: noise and prior sd by option, posterior in closed form from
//             sufficient statistics in float64.
// Cost        A fit takes one backward pass for each row and n (q + r)^2 operations; memory and the model
//             file grow with (q + r)^2, whatever the number of rows. A prediction takes one backward pass and
//             (q + r)^2 operations for each row.
// When        Where the variance must grow as that of ntk-gp and the table is too large for it: rich-bll has
//             no more directions than the last layer has features, so that many rows leave it nothing to be
//             unsure of.

namespace slimbayes {

namespace {

LastLayer ntk_sketch(const nlohmann::json& options) {
  auto o = options_from_json<NtkSketchOptions>(options, "ntk-sketch");
  return {.method = "ntk-sketch",
          .options = options_to_json(o),
          .network = o.network,
          .posterior = o.posterior,
          .sketch = o.sketch};
}

}  // namespace

RegistryRow ntk_sketch_row() { return last_layer_row("ntk-sketch", ntk_sketch); }

}  // namespace slimbayes
