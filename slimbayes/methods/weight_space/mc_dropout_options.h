#pragma once

#include <cstdint>

#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `mc-dropout`: a network trained with dropout. Its predictions average over random dropout
/// masks.
struct McDropoutOptions {
  TrainedNetworkOptions network = with_dropout();
  int64_t draws = 50;

  static TrainedNetworkOptions with_dropout() {
    TrainedNetworkOptions options;
    options.network.dropout = 0.1;
    return options;
  }
};

template <class V>
void describe(McDropoutOptions& o, V& v) {
  describe(o.network, v);
  v("draws", o.draws, "dropout masks per answer; the time of a prediction grows with them", Range{2, 10000},
    "Gal and Ghahramani 2016");
}

}  // namespace slimbayes
