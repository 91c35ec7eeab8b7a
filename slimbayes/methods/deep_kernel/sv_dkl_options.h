#pragma once

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// Options of `sv-dkl`: an RBF kernel with inducing points on the outputs of a network. It is trained on the
/// evidence lower bound of a sparse variational Gaussian process (SVGP; equation 5 of the deep basis kernel
/// paper, N).
struct SvDklOptions {
  TrainingOptions training;
  NetworkOptions network;
  int64_t rank = 128;
  double beta = 1;
  NoiseOptions noise = expected_noise();
};

template <class V>
void describe(SvDklOptions& o, V& v) {
  describe(o.training, v);
  describe(o.network, v);
  v("rank", o.rank, "inducing points; raise it as long as the validation NLL falls", Range{1, 4096},
    "N appendix B.2", OptionFacts{.at_most_rows = true});
  v("beta", o.beta, "weight of the KL term; 1 is the bound itself", Range{0, 1e6}, "N-5", paper_grid());
  describe(o.noise, v);
}

}  // namespace slimbayes
