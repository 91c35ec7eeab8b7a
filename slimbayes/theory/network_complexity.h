#pragma once

#include <optional>
#include <string>

#include "slimbayes/data/dataset.h"
#include "slimbayes/model/model_networks.h"
#include "slimbayes/theory/gaussian_complexity.h"

namespace slimbayes {

/// The Gaussian complexity of the class of networks with the ranks and spectral norms of a network.
struct NetworkComplexity {
  std::string unknown;     // why there is no value, in words; empty: there is one
  double value = 0;        // complexity_value()
  SampledMean first = {};  // one_layer_complexity() of the first matrix alone, for which it is exact
  int64_t draws = 0;       // complexity_draws() for the first matrix
  double input_norm = 0;   // |X|_F
  std::vector<ComplexityLayer> layers;
};

/// Returns the number of draws for the complexity of a matrix [h, d] with h = `out` and d = `in`: 200, or as
/// many as keep h d min(h, d) draws, which the time grows with, at most 5e9, but at least 8. An h x d matrix
/// of 1200 x 784 gets 8.
int64_t complexity_draws(int64_t out, int64_t in);

/// Returns the complexity of a chain of matrices and activations on the encoded inputs of these rows. The
/// norms are those of the mean weights; the rank is that of the plan, or the smaller side. Other networks
/// (norms, residuals, lstm, attention, convolutions) have no value. Weights of the rows take no part: the
/// complexity is one of the sample. `c0` as in complexity_value(); throws as
/// that function.
///
/// Cost: O(n d^2) for the d inputs of the n rows and, for the first matrix [h, d], complexity_draws() times
/// the singular values of such a matrix in float64.
NetworkComplexity complexity_of(const ModelNetwork& network, const Dataset& rows, double c0);

}  // namespace slimbayes
