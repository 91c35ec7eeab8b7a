#pragma once

#include "slimbayes/catalog/full_batch_options.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"

namespace slimbayes {

/// Options of `dbk-exact`: a deep basis kernel trained on the exact log evidence of all rows.
struct DbkExactOptions {
  FullBatchOptions training;
  int64_t chunk = 4096;
  NetworkOptions network;
  int64_t rank = 0;
  std::string basis = "silu";
  double alpha = 0;
  bool correction = false;
  NoiseOptions noise = expected_noise();
};

template <class V>
void describe(DbkExactOptions& o, V& v) {
  describe(o.training, v);
  v("chunk", o.chunk, "rows in memory at a time; the answer does not depend on it beyond rounding",
    Range{1, 1e7}, "slimbayes");
  describe(o.network, v);
  v("rank", o.rank,
    "basis functions, at most the training rows; 0 takes 128, or the rows where they are fewer",
    Range{0, 4096}, "N appendix B.2");
  v("basis", o.basis,
    "the expansion from network to basis functions; rbf (inducing points) trains on its collapsed bound",
    Choices{{"silu", "rbf", "linear", "fourier"}}, "N-13, N-3");
  v("alpha", o.alpha, "weight of the trace regulariser; 1 is the earlier paper's bound", Range{0, 1e6},
    "E-11", paper_grid());
  v("correction", o.correction,
    "gives every row the largest prior variance of the training rows when it predicts; with alpha 1 the "
    "earlier "
    "paper's method",
    "E-12");
  describe(o.noise, v);
}

}  // namespace slimbayes
