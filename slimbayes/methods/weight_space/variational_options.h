#pragma once

#include <cstdint>
#include <string>

#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of the methods that train a distribution over the weights of a network on the evidence lower bound
/// (bbb, full-rank, low-rank and their relatives).
struct VariationalOptions {
  TrainedNetworkOptions network;
  std::string prior = "normal";
  double weight_prior_sd = 0.3;
  double narrow_prior_sd = 0.0025;
  double start_sd = 0.01;
  double beta = 1;
  int64_t kl_zero = 0;
  int64_t kl_ramp = 0;
  bool random_biases = true;
  int64_t draws = 30;
  NoiseOptions noise = expected_noise();
};

/// Returns the defaults of full-rank, rank-1 and the low-rank methods: those of VariationalOptions but for a
/// tenth of the KL term and a smaller start. With the whole KL term and the larger start the validation score
/// gets worse as soon as the sds grow, so that an early epoch is kept (experiments/low_rank_defaults, for
/// low-rank; the others take the same by analogy). bbb keeps the bound itself.
inline VariationalOptions with_less_kl() {
  VariationalOptions options;
  options.beta = 0.1;
  options.start_sd = 0.001;
  return options;
}

template <class V>
void describe(VariationalOptions& o, V& v) {
  WithoutOptions<V> trained_by_the_bound{v, {"weight_decay"}};  // the prior takes its place
  describe(o.network, trained_by_the_bound);
  v("prior", o.prior,
    "prior of every weight. normal: N(0, weight_prior_sd^2); mixture: this and N(0, narrow_prior_sd^2) with "
    "equal shares, which allows most weights to be near 0",
    Choices{{"normal", "mixture"}}, "Blundell et al. 2015");
  v("weight_prior_sd", o.weight_prior_sd, "prior sd of every weight; of a mixture the larger sd",
    Range{1e-6, 1e6}, "Blundell et al. 2015");
  v("narrow_prior_sd", o.narrow_prior_sd, "the smaller sd of a mixture; e^-6 in the paper", Range{1e-9, 1e6},
    "Toure and Stephens, appendix G");
  v("start_sd", o.start_sd, "initial posterior sd of every weight", Range{1e-9, 10}, "slimbayes");
  v("beta", o.beta,
    "weight of the KL term; 1 is the bound itself. A smaller weight fits the data more closely and gives "
    "smaller error bars",
    Range{0, 1e6}, "Blundell et al. 2015", paper_grid());
  v("kl_zero", o.kl_zero,
    "epochs at the start without the KL term, in which the network learns the data before the prior counts. "
    "No validation before the end of kl_zero and kl_ramp chooses the parameters",
    Range{0, 1e7}, "slimbayes");
  v("kl_ramp", o.kl_ramp, "epochs after these in which the weight of the KL term rises linearly to beta",
    Range{0, 1e7}, "slimbayes");
  v("random_biases", o.random_biases, "whether biases are random as the matrices are", "slimbayes");
  v("draws", o.draws, "draws of the weights per answer; the time of a prediction grows with them",
    Range{2, 10000}, "Blundell et al. 2015");
  describe_log_noise(o.noise, v);
}

}  // namespace slimbayes
