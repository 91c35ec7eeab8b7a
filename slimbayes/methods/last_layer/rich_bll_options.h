#pragma once

#include <string>

#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/methods/last_layer/last_layer_options.h"

namespace slimbayes {

/// Options of `rich-bll`: a Bayesian last layer on a trained network. The prior covariance of its weights is
/// enriched by the gradients of the earlier layers, so that the variance also reflects the uncertainty of
/// those layers.
struct RichBllOptions {
  TrainedNetworkOptions network;
  LastLayerOptions posterior;
  std::string route = "auto";
  double ridge = 1e-5;
};

template <class V>
void describe(RichBllOptions& o, V& v) {
  describe(o.network, v);
  describe(o.posterior, v);
  v("route", o.route,
    "how the gradients of the earlier layers are summed (A^T A in the paper). auto: the cheapest exact way; "
    "gram: inner products of gradients, layer by layer; "
    "sums: weighted sums of gradients, layer by layer; weighted: one backward pass per feature, for any "
    "network; sketch: as weighted, but approximate, with gradients hashed to few numbers, for networks too "
    "large for that",
    Choices{{"auto", "gram", "sums", "weighted", "sketch"}}, "R appendix B");
  v("ridge", o.ridge,
    "ridge of the regression of the network's gradients on the last layer's features, as a share of the mean "
    "squared norm of a row's features. 0: least squares; the variance can then explode away from training "
    "rows that hardly span the features, as with one input. The paper's value 1 for classes is the ridge "
    "itself, not a share",
    Range{0, 1e9}, "slimbayes; R appendix C (classes)");
}

}  // namespace slimbayes
