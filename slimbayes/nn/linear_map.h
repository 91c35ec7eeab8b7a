#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <variant>

namespace slimbayes {

/// A matrix W [out, in], stored as it is.
struct DenseMap {
  at::Tensor weight;  // [out, in]; a convolution's [out, channels, kernel, kernel] is read as [out, in]
  /// Defined if `weight` [u, in] holds only some rows of an embedding: the tokens of these rows, [u] int64
  /// ascending. Undefined: `weight` holds all rows.
  at::Tensor tokens = {};
};

/// The product W = A B^T of two factors. Applying it to a row costs r (in + out) multiplications instead of
/// in * out.
struct FactoredMap {
  at::Tensor a;            // [out, r]
  at::Tensor b;            // [in, r]
  at::Tensor tokens = {};  // as DenseMap::tokens, for the rows of `a`
};

/// A matrix whose rows and columns are scaled: W_ij = s_i r_j V_ij.
struct ScaledMap {
  at::Tensor weight;       // V [out, in]
  at::Tensor s;            // [out]
  at::Tensor r;            // [in]
  at::Tensor tokens = {};  // as DenseMap::tokens, for the rows of `weight` and `s`
};

/// A matrix [out, in] in one of three forms. Layers call the functions below and do not know the form.
using LinearMap = std::variant<DenseMap, FactoredMap, ScaledMap>;

/// Returns x W^T: x [..., in] -> [..., out]. Adds `bias` [out] if it is defined.
at::Tensor apply(const LinearMap& map, const at::Tensor& x, const at::Tensor& bias = {});

/// Returns the rows of W at the indices `tokens`: [...] int64 -> [..., in]. If the map holds only the rows of
/// some tokens, `tokens` must be among them.
at::Tensor rows(const LinearMap& map, const at::Tensor& tokens);

/// Returns W as one tensor [out, in]. The DenseMap of a convolution gives [out, channels, kernel, kernel].
/// Throws std::logic_error if the map holds only the rows of some tokens.
at::Tensor dense(const LinearMap& map);

/// Returns the sizes {out, in} of W.
std::pair<int64_t, int64_t> sizes_of(const LinearMap& map);

}  // namespace slimbayes
