#include "slimbayes/basis/silu.h"

#include <ATen/ATen.h>

#include <cmath>

namespace slimbayes {

SiluBasis SiluBasis::bind(const std::string& prefix, const Network::Lookup& lookup) {
  return {lookup(prefix + ".weight"), lookup(prefix + ".bias"), lookup(prefix + ".scale")};
}

at::Tensor SiluBasis::operator()(const at::Tensor& g) const {
  return at::silu(at::linear(g, weight, bias)) * scale;
}

std::vector<ParameterSpec> silu_parameters(int64_t hidden, int64_t rank, const std::string& prefix,
                                           const std::string& group, const Stream& stream) {
  double bound = 1 / std::sqrt(static_cast<double>(hidden));
  at::Tensor sign = at::sign(stream.split("sign").uniform(at::IntArrayRef{rank}) - 0.5);
  return {{prefix + ".weight", group, bound * (2 * stream.split("weight").uniform({rank, hidden}) - 1)},
          {prefix + ".bias", group, bound * (2 * stream.split("bias").uniform(at::IntArrayRef{rank}) - 1)},
          {prefix + ".scale", group, sign / std::sqrt(static_cast<double>(rank))}};
}

}  // namespace slimbayes
