#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/model/model_networks.h"
#include "slimbayes/theory/loss_change.h"

namespace slimbayes {

/// A loss whose change is bounded, and the numbers from which the bound follows.
struct BoundedLoss {
  std::string name;  // "absolute error", "half squared error" or "cross entropy"
  LossSlope slope;   // on the encoded target
  double unit = 1;   // turns the loss of an encoded target into that of the user's units
};

/// The bounds for one rank of one matrix.
struct RankBound {
  int64_t rank;
  double sigma;          // singular value number rank + 1: spectral norm of what the truncation removes
  double tail;           // root of the sum of squares of the singular values after rank: its Frobenius norm
  double output_change;  // bound of the change of the outputs of a row (Euclidean norm, encoded), by sigma
  double tail_change;    // the same by `tail`, as Theorem C.6 has it; never smaller
  std::vector<double> loss_changes;  // by `output_change`, of each of Truncation::losses
};

/// What replacing one matrix by its best approximation of a rank can do to the outputs.
struct MatrixTruncation {
  std::string name;       // such as "network.0.weight"
  double input_norm = 0;  // R: the largest norm of the layer's input over the rows
  double downstream = 0;  // product of the Lipschitz constants after the matrix, with the weight's multiplier
  std::string unknown;    // why there is no bound, such as "network.1 (layer_norm)"; empty: there is one
  std::vector<RankBound> ranks;  // empty if there is no bound
};

/// The bounds for a network.
struct Truncation {
  std::string network;              // ModelNetwork::name
  bool answers, averaged;           // as in ModelNetwork
  std::vector<BoundedLoss> losses;  // none if the outputs are not the location of the answers, or for counts
  std::vector<MatrixTruncation> matrices;
};

/// Returns for every matrix of the network how much the outputs and the loss of any of these rows can change
/// if the matrix is replaced by its best approximation of a lower rank: at most L R sigma_(r+1) times the
/// Lipschitz constants of the layers after it, and no more than the same with the root of the sum of squares
/// of the last singular values (Toure and Stephens, C.5 and C.6 without learning error; their eq. 4 lacks the
/// root). It holds for these rows only, because R is the largest norm among them, and for the network with
/// the mean weights. If several matrices are replaced at once, the outputs change by at most the sum of their
/// bounds: truncation enlarges no spectral norm.
///
/// `ranks` are the ranks to report; empty: the least that keep 90, 95 and 99 % of the energy. A matrix
/// without a higher rank is not changed, so its bounds are 0. The rows must have targets. Computed in
/// float64. Throws std::invalid_argument if the least of `ranks` changes no matrix, or if there are no rows.
Truncation truncation_of(const ModelNetwork& network, const Dataset& rows, const std::vector<int64_t>& ranks);

}  // namespace slimbayes
