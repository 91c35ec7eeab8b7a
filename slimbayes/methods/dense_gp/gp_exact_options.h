#pragma once

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of `gp-exact`: a Gaussian process with a dense kernel matrix and an RBF kernel with one
/// lengthscale per input (ARD). Its hyperparameters maximise the evidence. It is the reference method on
/// small tables.
struct GpExactOptions {
  int64_t iterations = 60;
  int64_t evidence_rows = 2000;
  int64_t max_rows = 6000;
  double noise_floor = 1e-6;
};

template <class V>
void describe(GpExactOptions& o, V& v) {
  v("iterations", o.iterations,
    "L-BFGS iterations of a search for the hyperparameters: one search, or seven with at most 300 rows; "
    "raise it if the summary says that the search did not converge",
    Range{0, 1e6}, "N section 2");
  v("evidence_rows", o.evidence_rows,
    "largest number of rows, evenly spaced, that the hyperparameters are fitted to; the posterior uses all. "
    "Raise it if time permits",
    Range{1, 1e6}, "slimbayes");
  v("max_rows", o.max_rows, "largest number of training rows: time grows with n^3 and memory with n^2",
    Range{1, 1e6}, "N section 2");
  v("noise_floor", o.noise_floor, "least noise variance of the scaled target", Range{0, 1e6}, "N appendix B");
}

}  // namespace slimbayes
