#pragma once

#include <cstdint>

#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `swag`: after the training, further epochs at a constant learning rate visit several sets of
/// weights. The posterior is a Gaussian with their average and their covariance.
struct SwagOptions {
  TrainedNetworkOptions network;
  int64_t averaged = 40;
  double swag_rate = 1e-3;
  int64_t deviations = 20;
  int64_t draws = 30;
};

template <class V>
void describe(SwagOptions& o, V& v) {
  describe(o.network, v);
  v("averaged", o.averaged,
    "number of epochs after the training; the weights at the end of each are averaged", Range{2, 1e6},
    "Maddox et al. 2019");
  v("swag_rate", o.swag_rate,
    "constant learning rate of these epochs; raise it if the epistemic sd is too small", Range{1e-8, 1},
    "Maddox et al. 2019");
  v("deviations", o.deviations,
    "number of last epochs whose deviations from the average span the low-rank part of the covariance",
    Range{2, 10000}, "Maddox et al. 2019");
  v("draws", o.draws, "draws of the weights per answer; the time of a prediction grows with them",
    Range{2, 10000}, "Maddox et al. 2019");
}

}  // namespace slimbayes
