#pragma once

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/gaussian_options.h"
#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// sv-dbk: the earlier paper's deep basis kernel: vbll's bound with the trace regulariser in training and the
/// diagonal correction in prediction. Its ablations: -c is alpha 0 without the correction, -r is rank 1, -cr
/// both.
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
  v("rank", o.rank, "basis functions; 1 is the paper's ablation -r", Range{1, 4096}, "E section 4");
  v("basis", o.basis, "the expansion from network to basis functions",
    Choices{{"silu", "rbf", "linear", "fourier"}}, "E section 3.1");
  v("alpha", o.alpha, "weight of the trace regulariser; 1 is the bound itself", Range{0, 1e6}, "E-11",
    paper_grid());
  v("beta", o.beta, "weight of the KL term; 1 is the bound itself", Range{0, 1e6}, "E-9", paper_grid());
  v("correction", o.correction,
    "gives every row the largest prior variance of the training rows when it predicts; false with alpha 0 is "
    "the paper's ablation -c",
    "E-12");
  describe(o.noise, v);
}

}  // namespace slimbayes
