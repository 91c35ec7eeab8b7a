#pragma once

#include <cstdint>
#include <string>

#include "slimbayes/catalog/weight_space/variational_options.h"

namespace slimbayes {

/// Options of `low-rank`, `low-rank-svd` and `low-rank-laplace`: networks whose matrices are products A B^T
/// of random factors.
struct LowRankOptions {
  VariationalOptions variational;
  int64_t rank = 16;
  std::string factored = "smaller";
  bool match_prior = true;
  double start_share = 0.1;
  double damping = 1;
};

template <class V>
void describe(LowRankOptions& o, V& v) {
  describe(o.variational, v);
  v("rank", o.rank,
    "columns of the factors A and B of a matrix A B^T; at most the smaller side of the matrix. Raise it if a "
    "network without factors (dnn) is more accurate",
    Range{1, 65536}, "Toure and Stephens, section 2");
  v("factored", o.factored,
    "which matrices are products of factors. smaller: those that have fewer numbers so; all: every matrix, "
    "as "
    "in the paper. The others have independent weights",
    Choices{{"smaller", "all"}}, "slimbayes");
  v("match_prior", o.match_prior,
    "whether the prior of the factors is scaled so that the product has the prior variance of a matrix "
    "without "
    "factors at every rank. If not, the factors themselves have the prior, as in the paper",
    "slimbayes");
  v("start_share", o.start_share, "initial posterior sd of a factor, as a share of its initial locations",
    Range{1e-9, 10}, "Toure and Stephens, appendix F.7");
  v("damping", o.damping,
    "multiplies the initial locations of the factors; below 1 the network starts flatter", Range{1e-3, 10},
    "Toure and Stephens, appendix G");
}

}  // namespace slimbayes
