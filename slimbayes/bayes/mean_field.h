#pragma once

#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// A Gaussian with independent components over the weights of a network (Blundell et al. 2015): each weight w
/// has a mean and a spread, w = mean + softplus(spread) eps with eps ~ N(0, 1).

/// Returns the parameters of the distribution: the trained parameters of `network` as means, with their
/// names, and for each a spread named "NAME.spread" in `spread_group`. The sd starts at `start_sd`. Buffers
/// are returned as they are.
std::vector<ParameterSpec> mean_field_parameters(const std::vector<ParameterSpec>& network, double start_sd,
                                                 const std::string& spread_group);

/// Returns a draw of the weights, for a Network: `parameters` looks up means and spreads. A draw has a graph
/// to both. Buffers are passed on.
Network::Lookup mean_field_draw(const std::vector<ParameterSpec>& network, const Network::Lookup& parameters,
                                const Stream& stream);

/// Returns KL(q || p), p: independent N(0, prior_sd^2), summed over all weights. Differentiable. Scalar.
at::Tensor mean_field_kl(const std::vector<ParameterSpec>& network, const Network::Lookup& parameters,
                         double prior_sd);

}  // namespace slimbayes
