#pragma once

#include <optional>
#include <string>

#include "slimbayes/core/gaussian_complexity.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/workflow/model_networks.h"

namespace slimbayes {

/// The Gaussian complexity of the class of networks with the ranks and spectral norms of a network.
struct NetworkComplexity {
  std::string unknown;     // why there is no value, in words; empty: there is one
  double value = 0;        // complexity_value()
  SampledMean first = {};  // one_layer_complexity() of the first matrix alone, for which it is exact
  double input_norm = 0;   // |X|_F
  std::vector<ComplexityLayer> layers;
};

/// Returns the complexity of a chain of matrices and activations on the encoded inputs of these rows. The
/// norms are those of the mean weights; the rank is that of the plan, or the smaller side. Other networks
/// (norms, residuals, lstm, attention, convolutions) have no value. `c0` as in complexity_value().
NetworkComplexity complexity_of(const ModelNetwork& network, const Dataset& rows, double c0);

}  // namespace slimbayes
