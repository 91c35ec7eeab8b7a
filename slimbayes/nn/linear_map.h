#pragma once

#include <ATen/core/Tensor.h>

#include <variant>

namespace slimbayes {

/// A linear map stored as its full weight matrix. Other representations (a product of factors, a scaled map)
/// can be added as alternatives of LinearMap; layers call apply() and do not depend on the representation.
struct DenseMap {
  at::Tensor weight;  // [out, in]
};

using LinearMap = std::variant<DenseMap>;

/// Applies the map: x [..., in] -> [..., out]. Adds `bias` [out] if it is defined.
at::Tensor apply(const LinearMap& map, const at::Tensor& x, const at::Tensor& bias = {});

/// Returns the sizes of the map's matrix, {out, in}.
at::IntArrayRef sizes_of(const LinearMap& map);

}  // namespace slimbayes
