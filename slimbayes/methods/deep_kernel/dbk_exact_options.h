#pragma once

#include "slimbayes/catalog/full_batch_options.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"

namespace slimbayes {

/// Options of `dbk-exact`: a deep basis kernel, whose basis functions are computed from a network's output,
/// trained on the exact log evidence of all rows.
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
  v("chunk", o.chunk,
    "rows processed at a time; lower it to save memory, the answer changes by rounding only", Range{1, 1e7},
    "slimbayes");
  describe(o.network, v);
  v("rank", o.rank,
    "basis functions, at most the training rows; 0: 128, or the number of training rows if it is smaller",
    Range{0, 4096}, "N appendix B.2", OptionFacts{.at_most_rows = true});
  v("basis", o.basis,
    "how the basis functions are computed from the network's output; rbf (inducing points) trains on its "
    "collapsed bound",
    Choices{{"silu", "rbf", "linear", "fourier"}}, "N-13, N-3");
  v("alpha", o.alpha, "weight of the trace regulariser; 1 is the earlier paper's bound", Range{0, 1e6},
    "E-11", OptionFacts{.grid = paper_grid(), .gaussian_only = true});
  v("correction", o.correction,
    "in prediction, raise the prior variance of every row to the largest one of the training rows; with "
    "alpha 1 this is the earlier paper's method",
    "E-12");
  describe(o.noise, v);
}

}  // namespace slimbayes
