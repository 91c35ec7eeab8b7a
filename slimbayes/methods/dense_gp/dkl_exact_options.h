#pragma once

#include "slimbayes/catalog/full_batch_options.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/noise_options.h"

namespace slimbayes {

/// Options of `dkl-exact`: deep kernel learning, a Gaussian process with a dense kernel matrix whose inputs
/// are the outputs of a network. For small tables only: time grows with n^3 and memory with n^2 (n rows).
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
    "largest number of rows in one step: a larger table is dealt into equal blocks, and a step follows the "
    "evidence of one block instead of the exact one; raise it if time permits",
    Range{2, 1e6}, "slimbayes");
  v("max_rows", o.max_rows, "largest number of training rows: time grows with n^3 and memory with n^2",
    Range{1, 1e6}, "N section 2");
  describe_log_noise(
      o.noise, v,
      "AdamW's peak rate of the noise variance and of the kernel's lengthscales, amplitude and constant");
}

}  // namespace slimbayes
