#pragma once

#include <string>

#include "slimbayes/catalog/last_layer_options.h"
#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `rich-bll`, a Bayesian last layer whose prior knows the gradients of the whole network.
struct RichBllOptions {
  TrainedNetworkOptions network;
  LastLayerOptions posterior;
  std::string route = "auto";
};

template <class V>
void describe(RichBllOptions& o, V& v) {
  describe(o.network, v);
  describe(o.posterior, v);
  v("route", o.route,
    "how A^T A is computed. auto: the cheaper exact way; gram: inner products of gradients, layer by layer; "
    "weighted: one backward pass per feature; sketch: as weighted, with gradients hashed to few numbers, for "
    "networks too large for it",
    Choices{{"auto", "gram", "weighted", "sketch"}}, "R appendix B");
}

}  // namespace slimbayes
