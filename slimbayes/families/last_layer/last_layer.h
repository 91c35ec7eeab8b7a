#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/last_layer/last_layer_options.h"
#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/method/method.h"

namespace slimbayes {

/// A post-hoc posterior of the last layer of a trained network. The mean is the network's own; the posterior
/// gives only the epistemic variance,
///   S(x, x) = phi_r^T (Phi_r^T Phi_r / sigma2 + (s^2 (I + A^T A))^-1)^-1 phi_r           (R equation 13),
/// where s is the prior sd and A projects the gradients of all earlier parameters on phi_r (R equation 9).
/// For a plain Bayesian last layer A = 0. The methods bll and rich-bll are values of this struct.
struct LastLayer {
  std::string method;      // name in the catalogue
  nlohmann::json options;  // every option of the method, for the model file
  TrainedNetworkOptions network;
  LastLayerOptions posterior;
  bool enriched = false;       // whether A is estimated; false: A = 0
  std::string route = "auto";  // how A^T A is computed (ntk/enrichment.h)
  double ridge = 0;            // of A, as `projector` takes it
};

/// Returns the method. A regression has one posterior of the residual y - f(x). A classifier has one
/// posterior for each logit, computed from the rows of its class; all logits share A (R section 4.4). Class
/// probabilities are averaged over independent Gaussian logits.
std::unique_ptr<Method> last_layer_method(LastLayer layer);

/// Reads a fitted last layer from a model file. `layer` must be made from the options in that file. Throws
/// DataError or std::invalid_argument for a file that does not fit.
std::unique_ptr<Fitted> load_last_layer(LastLayer layer, const TensorFile& file);

}  // namespace slimbayes
