#pragma once

#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/methods/last_layer/last_layer_options.h"

namespace slimbayes {

/// Options of `ntk-gp`: a network is trained, then the variance is that of a Gaussian process whose kernel is
/// the network's neural tangent kernel, the inner products of its gradients. For small tables only: time
/// grows with n^3 and memory with n^2 (n rows).
struct NtkGpOptions {
  TrainedNetworkOptions network;
  PosteriorChoiceOptions choice;
  int64_t max_rows = 4000;
};

template <class V>
void describe(NtkGpOptions& o, V& v) {
  describe(o.network, v);
  describe(o.choice, v);
  v("max_rows", o.max_rows, "largest number of training rows: time grows with n^3 and memory with n^2",
    Range{1, 1e6}, "R table 1");
}

}  // namespace slimbayes
