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
  v("draws", o.draws, "draws of the weights for an answer; its time grows with them", Range{2, 10000},
    "Blundell et al. 2015");
  v("noise_start", o.noise.noise_start, "initial noise variance of the scaled target", Range{1e-12, 1e6},
    "slimbayes");
  v("noise_floor", o.noise.noise_floor, "least noise variance of the scaled target", Range{0, 1e6},
    "experiments/recipe");
  v("noise_rate", o.noise.noise_rate, "AdamW's peak rate of the logarithm of the noise", Range{1e-8, 10},
    "slimbayes");
}

}  // namespace slimbayes
