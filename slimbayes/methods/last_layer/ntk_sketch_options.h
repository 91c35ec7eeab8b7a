#pragma once

#include <cstdint>

#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/methods/last_layer/last_layer_options.h"

namespace slimbayes {

/// Options of `ntk-sketch`: a network is trained, then the variance is that of a Bayesian linear model on
/// random features of the network's whole gradient, beside the exact features of its last layer.
struct NtkSketchOptions {
  TrainedNetworkOptions network;
  LastLayerOptions posterior;
  int64_t sketch = 1024;
};

template <class V>
void describe(NtkSketchOptions& o, V& v) {
  describe(o.network, v);
  describe(o.posterior, v);
  v("sketch", o.sketch,
    "number of random features of the earlier layers' gradient. The error of the kernel falls as its inverse "
    "root; "
    "the model file grows with its square (about 24 bytes times the square)",
    Range{1, 16384}, "slimbayes");
}

}  // namespace slimbayes
