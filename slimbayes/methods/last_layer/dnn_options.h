#pragma once

#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `dnn`, the baseline without a posterior: a network with a linear output layer, trained on
/// squared error or, for classes, on cross entropy.
struct DnnOptions {
  TrainedNetworkOptions network;
};

template <class V>
void describe(DnnOptions& o, V& v) {
  describe(o.network, v);
}

}  // namespace slimbayes
