#pragma once

#include "slimbayes/catalog/last_layer/last_layer_options.h"
#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `bll`, a Bayesian last layer on top of a trained network.
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
