#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/model/model_networks.h"

namespace slimbayes {

/// What the singular values of one matrix say about its rank.
struct MatrixAdvice {
  std::string name;   // such as "network.0.weight"; in an ensemble "member 1: network.0.weight"
  std::string layer;  // such as "network.0"
  int64_t out, in;
  std::vector<double> values;                         // singular values, descending
  std::vector<std::pair<int64_t, double>> kept;       // rank and the share of the energy that it keeps
  std::vector<std::pair<double, int64_t>> for_share;  // share of the energy and the least rank that keeps it
  int64_t rank;                                       // the least rank that keeps the asked share
  int64_t largest_saving;                             // the largest rank that saves parameters; 0: none
  int64_t saved;  // parameters saved at `rank`; negative if factors have more
};

/// Advice on the ranks of a low-rank network.
struct RankAdvice {
  double energy;                       // the asked share
  std::vector<MatrixAdvice> matrices;  // of every network, in the order of the layers
  /// The largest advised rank of those matrices whose factors then save parameters; 0: there is none.
  int64_t rank;
  /// For each layer with matrices, in order: the largest advised rank of its matrices, over all networks.
  std::vector<int64_t> layer_ranks;
};

/// Returns advice from the singular values of every matrix of these networks: the least rank that keeps the
/// share `energy`, in (0, 1], of the sum of squared singular values (Toure and Stephens, section 3.3 and
/// appendix H). For random weights the matrix is E[W]. Networks of an ensemble must have the same layers.
RankAdvice rank_advice(const std::vector<ModelNetwork>& networks, double energy);

}  // namespace slimbayes
