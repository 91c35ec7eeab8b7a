#pragma once

#include <ATen/core/Tensor.h>

#include <variant>

namespace slimbayes {

/// A weight as the map that it is. More forms (a product of factors, a scaled map) are alternatives beside
/// this one: a layer applies whichever stands there.
struct DenseMap {
  at::Tensor weight;  // [out, in]
};

using LinearMap = std::variant<DenseMap>;

/// x [..., in] -> [..., out], plus a bias [out] where it is defined.
at::Tensor apply(const LinearMap& map, const at::Tensor& x, const at::Tensor& bias = {});

/// {out, in}.
at::IntArrayRef sizes_of(const LinearMap& map);

}  // namespace slimbayes
