#pragma once

#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `dnn`, the baseline: the network of the other methods with a linear output layer, trained on
/// squared error or, for classes, on cross entropy.
struct DnnOptions {
  TrainedNetworkOptions network;
};

template <class V>
void describe(DnnOptions& o, V& v) {
  describe(o.network, v);
}

}  // namespace slimbayes
