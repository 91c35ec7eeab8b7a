#pragma once

#include <cstdint>

#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `bbb`, a network whose weights have independent Gaussian posteriors (Bayes by Backprop).
struct BbbOptions {
  TrainedNetworkOptions network;
  double weight_prior_sd = 0.3;
  double start_sd = 0.01;
  double beta = 1;
  int64_t kl_zero = 0;
  int64_t kl_ramp = 0;
  int64_t draws = 30;
  NoiseOptions noise = expected_noise();
};

template <class V>
void describe(BbbOptions& o, V& v) {
  describe(o.network, v);
  v("weight_prior_sd", o.weight_prior_sd, "prior sd of every weight", Range{1e-6, 1e6},
    "Blundell et al. 2015");
  v("start_sd", o.start_sd, "initial posterior sd of every weight", Range{1e-9, 10}, "slimbayes");
  v("beta", o.beta, "weight of the KL term; 1 is the bound itself", Range{0, 1e6}, "Blundell et al. 2015",
    paper_grid());
  v("kl_zero", o.kl_zero,
    "epochs at the start without the KL term, in which the network learns the data before the prior counts",
    Range{0, 1e7}, "slimbayes");
  v("kl_ramp", o.kl_ramp, "epochs after these in which the weight of the KL term rises linearly to beta",
    Range{0, 1e7}, "slimbayes");
  v("draws", o.draws, "draws of the weights per answer; the time of a prediction grows with them",
    Range{2, 10000}, "Blundell et al. 2015");
  describe_log_noise(o.noise, v);
}

}  // namespace slimbayes
