#include "slimbayes/nn/linear_map.h"

#include <ATen/ATen.h>

namespace slimbayes {

at::Tensor apply(const LinearMap& map, const at::Tensor& x, const at::Tensor& bias) {
  return std::visit([&](const DenseMap& dense) { return at::linear(x, dense.weight, bias); }, map);
}

at::IntArrayRef sizes_of(const LinearMap& map) {
  return std::visit([](const DenseMap& dense) { return dense.weight.sizes(); }, map);
}

}  // namespace slimbayes
