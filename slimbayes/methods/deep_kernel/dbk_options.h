#pragma once

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/methods/deep_kernel/focus_options.h"

namespace slimbayes {

/// Options of `dbk`: a deep basis kernel, whose basis functions are computed from a network's output. It is
/// trained on mini-batches with the objective dPPGP, which joins the log predictive density of each row with
/// a trace regulariser and a KL term (equation 15 of the deep basis kernel paper, N).
struct DbkOptions {
  TrainingOptions training;
  NetworkOptions network;
  int64_t rank = 128;
  std::string basis = "silu";
  double alpha = 0.01;
  double beta = 0.01;
  FocusOptions focus;
  NoiseOptions noise;
};

template <class V>
void describe(DbkOptions& o, V& v) {
  describe(o.training, v);
  describe(o.network, v);
  v("rank", o.rank, "basis functions; raise it as long as the validation NLL falls", Range{1, 4096},
    "N appendix B.2", OptionFacts{.at_most_rows = true});
  v("basis", o.basis,
    "how the basis functions are computed from the network's output: silu; rbf (inducing points, slower); "
    "linear; fourier",
    Choices{{"silu", "rbf", "linear", "fourier"}}, "N-13, N-12");
  v("alpha", o.alpha,
    "weight of the trace regulariser; raise it if the predicted sd varies too much from row to row",
    Range{0, 1e6}, "N-15", OptionFacts{.grid = paper_grid(), .gaussian_only = true});
  v("beta", o.beta, "weight of the KL term; raise it on small tables", Range{0, 1e6}, "N-15", paper_grid());
  describe(o.focus, v);
  describe(o.noise, v);
}

}  // namespace slimbayes
