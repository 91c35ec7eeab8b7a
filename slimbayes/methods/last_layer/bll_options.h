#pragma once

#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/methods/last_layer/last_layer_options.h"

namespace slimbayes {

/// Options of `bll`: a network is trained, then the weights of its last layer get a Gaussian posterior (a
/// Bayesian last layer).
struct BllOptions {
  TrainedNetworkOptions network;
  LastLayerOptions posterior;
};

template <class V>
void describe(BllOptions& o, V& v) {
  describe(o.network, v);
  describe(o.posterior, v);
}

}  // namespace slimbayes
