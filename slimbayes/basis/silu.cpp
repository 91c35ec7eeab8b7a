#include "slimbayes/basis/silu.h"

#include <ATen/ATen.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

SiluBasis SiluBasis::bind(const std::string& prefix, const Network::Lookup& lookup) {
  SiluBasis basis{lookup(prefix + ".weight"), lookup(prefix + ".bias"), lookup(prefix + ".scale")};
  check_shape(basis.weight, {-1, -1}, "SiluBasis", prefix + ".weight");
  check_shape(basis.bias, {basis.weight.size(0)}, "SiluBasis", prefix + ".bias");
  check_shape(basis.scale, {basis.weight.size(0)}, "SiluBasis", prefix + ".scale");
  return basis;
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
