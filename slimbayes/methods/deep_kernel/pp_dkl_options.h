#pragma once

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/methods/deep_kernel/focus_options.h"

namespace slimbayes {

/// Options of `pp-dkl`: an RBF kernel with inducing points on the outputs of a network. It is trained on
/// PPGP's objective, the predictive density of each row (Jankowiak et al. 2020; equation 6 of the deep basis
/// kernel paper, N).
struct PpDklOptions {
  TrainingOptions training;
  NetworkOptions network;
  int64_t rank = 128;
  double beta = 0.01;
  FocusOptions focus;
  NoiseOptions noise;
};

template <class V>
void describe(PpDklOptions& o, V& v) {
  describe(o.training, v);
  describe(o.network, v);
  v("rank", o.rank, "inducing points; raise it as long as the validation NLL falls", Range{1, 4096},
    "N appendix B.2", OptionFacts{.at_most_rows = true});
  v("beta", o.beta, "weight of the KL term; raise it on small tables", Range{0, 1e6}, "N-6", paper_grid());
  describe(o.focus, v);
  describe(o.noise, v);
}

}  // namespace slimbayes
