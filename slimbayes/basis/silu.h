#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// The SiLU expansion of N-13: phi(g) = s * SiLU(W g + b).
struct SiluBasis {
  at::Tensor weight;  // W [r, h]
  at::Tensor bias;    // b [r]
  at::Tensor scale;   // s [r]

  /// `prefix.weight`, `prefix.bias`, `prefix.scale` of a lookup.
  static SiluBasis bind(const std::string& prefix, const Network::Lookup& lookup);

  at::Tensor operator()(const at::Tensor& g) const;  // [b, h] -> [b, r]
};

/// The start of N appendix B: a default linear layer, random signs / sqrt(r) for the scale.
std::vector<ParameterSpec> silu_parameters(int64_t hidden, int64_t rank, const std::string& prefix,
                                           const std::string& group, const Stream& stream);

}  // namespace slimbayes
