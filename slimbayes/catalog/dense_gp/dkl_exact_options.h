#pragma once

#include "slimbayes/catalog/full_batch_options.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"

namespace slimbayes {

/// Options of `dkl-exact`: a dense Gaussian process on a network's outputs. For small tables only: time grows
/// with n^3 and memory with n^2.
struct DklExactOptions {
  FullBatchOptions training;
  NetworkOptions network;
  int64_t evidence_rows = 1000;
  int64_t max_rows = 6000;
  NoiseOptions noise = expected_noise();
};

template <class V>
void describe(DklExactOptions& o, V& v) {
  describe(o.training, v);
  describe(o.network, v);
  v("evidence_rows", o.evidence_rows,
    "most rows whose joint evidence a step follows, an equal share of the table; exact where the table has "
    "no "
    "more, raise it if time permits",
    Range{2, 1e6}, "slimbayes");
  v("max_rows", o.max_rows, "refuses larger tables: time grows with n^3 and memory with n^2", Range{1, 1e6},
    "N section 2");
  v("noise_start", o.noise.noise_start,
    "initial noise variance of the scaled target; the papers' is 0.01 (--preset paper)", Range{1e-12, 1e6},
    "slimbayes");
  v("noise_floor", o.noise.noise_floor, "least noise variance of the scaled target", Range{0, 1e6},
    "experiments/recipe");
  v("noise_rate", o.noise.noise_rate,
    "AdamW's peak rate of the noise and of the kernel's lengthscales, amplitude and constant",
    Range{1e-8, 10}, "slimbayes");
}

}  // namespace slimbayes
