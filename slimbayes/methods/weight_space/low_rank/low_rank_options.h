#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/methods/weight_space/variational_options.h"

namespace slimbayes {

/// Options of `low-rank` and `low-rank-laplace`: networks whose matrices are products A B^T of random
/// factors.
struct LowRankOptions {
  VariationalOptions variational = with_less_kl();
  int64_t rank = 16;
  std::vector<std::string> layer_ranks;
  bool clip_rank = true;
  std::string factored = "smaller";
  bool match_prior = true;
  double start_share = 0.01;
  double damping = 1;
};

template <class V>
void describe(LowRankOptions& o, V& v) {
  describe(o.variational, v);
  v("rank", o.rank,
    "columns of the factors A and B of a matrix A B^T. Raise it if a "
    "network without factors (dnn) is more accurate",
    Range{1, kMostRank}, "Toure and Stephens, section 2");
  v("layer_ranks", o.layer_ranks,
    "ranks of the layers that have matrices, in their order, such as 14,20 for two layers of an lstm, in "
    "place of one rank for all; the last one holds for the layers that remain. `rank-advice` prints such a "
    "list for a trained network",
    ValueName{"RANK"}, "slimbayes");
  v("clip_rank", o.clip_rank,
    "whether a rank above the smaller side of a matrix becomes that side. If not, which needs "
    "`.factored=all`, the factors keep all columns: more random numbers without more freedom",
    "slimbayes");
  v("factored", o.factored,
    "which matrices are products of factors. smaller: those that have fewer numbers so; all: every matrix, "
    "as in the paper. The others have independent weights",
    Choices{{"smaller", "all"}}, "slimbayes");
  v("match_prior", o.match_prior,
    "whether the prior of the factors is scaled so that the product has the prior variance of a matrix "
    "without factors at every rank. If not, the factors themselves have the prior, as in the paper",
    "slimbayes");
  v("start_share", o.start_share, "initial posterior sd of a factor, as a share of its initial locations",
    Range{1e-9, 10}, "experiments/low_rank_defaults");
  v("damping", o.damping,
    "multiplies the initial locations of the factors; below 1 the network starts flatter", Range{1e-3, 10},
    "Toure and Stephens, appendix G");
}

/// Options of `low-rank-svd`: those of low-rank, and the weight decay of the network that is trained first.
struct LowRankSvdOptions {
  LowRankOptions low_rank;
};

template <class V>
void describe(LowRankSvdOptions& o, V& v) {
  describe(o.low_rank, v);
  v("weight_decay", o.low_rank.variational.network.training.weight_decay,
    "decoupled decay of the weights of the network that is trained first", Range{0, 10}, "N appendix B");
}

}  // namespace slimbayes
