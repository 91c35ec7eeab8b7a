#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/last_layer/last_layer_options.h"

namespace slimbayes {

/// A posterior of the last layer's weights, added to a network after its training. The mean is the network's
/// own; the posterior gives only the epistemic variance of f(x) (Rich-BLL, equation 13),
///   phi_r^T (Phi_r^T Phi_r / sigma2 + (s^2 (I + A^T A))^-1)^-1 phi_r.
/// phi_r are the features of the last layer at x, the rows of Phi_r those of the training rows, sigma2 is the
/// noise variance and s the prior sd. A is the regression of the gradients with respect to all earlier
/// parameters on phi_r (Rich-BLL, equation 9), so A^T A adds the variance of the earlier layers; bll has A =
/// 0. The methods bll, rich-bll and ntk-sketch are values of this struct.
struct LastLayer {
  std::string method;      // name in the catalogue
  nlohmann::json options;  // every option of the method, for the model file
  TrainedNetworkOptions network;
  LastLayerOptions posterior;
  bool enriched = false;       // whether A is estimated; false: A = 0
  std::string route = "auto";  // how A^T A is computed (ntk/enrichment.h)
  double ridge = 0;            // of the regression A (projector() in ntk/enrichment.h)
  int64_t sketch = 0;          // random features of the earlier layers' gradient beside phi_r (ntk-sketch)
};

/// Returns the method. A regression has one posterior, of the residual y - f(x). A classifier has one
/// posterior for each logit, computed from the rows of its class; all logits share A (Rich-BLL, section 4.4).
/// Class probabilities are averaged over independent Gaussian logits. A row of weight w (Batch::weight)
/// counts as w equal rows in every sum, also in those of A. The rows of the options subsample and class_rows
/// are drawn uniformly, whatever their weights, and keep them; the statistics of a subsample are scaled to
/// the weight of all rows.
std::unique_ptr<Method> last_layer_method(LastLayer layer);

/// Reads a fitted last layer from a model file. `layer` must be made from the options in that file. Throws
/// DataError or std::invalid_argument for a file that does not fit.
std::unique_ptr<Fitted> load_last_layer(LastLayer layer, const TensorFile& file);

/// Returns the registry's row of the method `name`. `of` makes a last layer from the method's options.
RegistryRow last_layer_row(std::string_view name,
                           const std::function<LastLayer(const nlohmann::json& options)>& of);

}  // namespace slimbayes
