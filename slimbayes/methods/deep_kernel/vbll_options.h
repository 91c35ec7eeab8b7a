#pragma once

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// Options of `vbll`, a variational Bayesian last layer: the model of dbk, basis functions on a network's
/// output with Gaussian weights, trained on the evidence lower bound.
struct VbllOptions {
  TrainingOptions training;
  NetworkOptions network;
  int64_t rank = 128;
  std::string basis = "silu";
  double beta = 1;
  NoiseOptions noise = expected_noise();
};

template <class V>
void describe(VbllOptions& o, V& v) {
  describe(o.training, v);
  describe(o.network, v);
  v("rank", o.rank, "basis functions; raise it as long as the validation NLL falls", Range{1, 4096},
    "N appendix B.2", OptionFacts{.at_most_rows = true});
  v("basis", o.basis, "how the basis functions are computed from the network's output",
    Choices{{"silu", "rbf", "linear", "fourier"}}, "N appendix B");
  v("beta", o.beta, "weight of the KL term; 1 is the bound itself", Range{0, 1e6}, "N appendix B",
    paper_grid());
  describe(o.noise, v);
}

}  // namespace slimbayes
