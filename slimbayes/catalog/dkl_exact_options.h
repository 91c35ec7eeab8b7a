#pragma once

#include "slimbayes/catalog/backbone_options.h"
#include "slimbayes/catalog/full_batch_options.h"
#include "slimbayes/catalog/gaussian_options.h"

namespace slimbayes {

/// dkl-exact: a dense Gaussian process at a network's outputs.
struct DklExactOptions {
  FullBatchOptions training;
  BackboneOptions backbone;
  int64_t evidence_rows = 1000;
  int64_t max_rows = 6000;
  NoiseOptions noise = expected_noise();
};

template <class V>
void describe(DklExactOptions& o, V& v) {
  describe(o.training, v);
  describe(o.backbone, v);
  v("evidence_rows", o.evidence_rows,
    "rows whose joint evidence a step follows; exact where the table has no more, raise it if time permits",
    Range{2, 1e6}, "slimbayes");
  v("max_rows", o.max_rows, "refuses larger tables: time grows with n^3 and memory with n^2", Range{1, 1e6},
    "N section 2");
  describe(o.noise, v);
}

}  // namespace slimbayes
