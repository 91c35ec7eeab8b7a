#pragma once

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// Options of `sv-dbk`, the method of the earlier deep basis kernel paper (E). It is trained on the evidence
/// lower bound with a trace regulariser, and corrects the diagonal of the kernel in prediction. To repeat the
/// ablations of E section 4: for "-c" set alpha to 0 and correction to false; for "-r" set rank to 1; for
/// "-cr" set all three.
struct SvDbkOptions {
  TrainingOptions training;
  NetworkOptions network;
  int64_t rank = 128;
  std::string basis = "linear";
  double alpha = 1;
  double beta = 1;
  bool correction = true;
  NoiseOptions noise = expected_noise();
};

template <class V>
void describe(SvDbkOptions& o, V& v) {
  describe(o.training, v);
  describe(o.network, v);
  v("rank", o.rank, "basis functions; 1 is the paper's ablation -r", Range{1, 4096}, "E section 4",
    OptionFacts{.at_most_rows = true});
  v("basis", o.basis, "how the basis functions are computed from the network's output",
    Choices{{"silu", "rbf", "linear", "fourier"}}, "E section 3.1");
  v("alpha", o.alpha, "weight of the trace regulariser; 1 is the bound itself", Range{0, 1e6}, "E-11",
    OptionFacts{.grid = paper_grid(), .gaussian_only = true});
  v("beta", o.beta, "weight of the KL term; 1 is the bound itself", Range{0, 1e6}, "E-9", paper_grid());
  v("correction", o.correction,
    "in prediction, raise the prior variance of every row to the largest one of the training rows; false "
    "with alpha 0 is the paper's ablation -c",
    "E-12");
  describe(o.noise, v);
}

}  // namespace slimbayes
