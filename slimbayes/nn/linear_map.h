#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// The forms of a matrix below may also hold S matrices, the draws of a random one. Their tensors then have a
/// leading axis S, except the tensors that all draws share. Layers pass all S matrices over a batch at once.

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

/// A matrix whose elements are independent and Gaussian, of which no values are drawn: apply() draws the
/// outputs, those of each row anew. Use it to train (DrawContext::local in bayes).
struct LocalMap {
  at::Tensor mean, sd;  // [out, in]; of a convolution [out, channels, kernel, kernel]
  Stream stream{0};     // random numbers of one pass
};

/// A matrix [out, in] in one of four forms. Layers call the functions below and do not know the form.
using LinearMap = std::variant<DenseMap, FactoredMap, ScaledMap, LocalMap>;

/// Returns mean + sqrt(var) * e with standard normal e, the outputs of a LocalMap. Differentiable also where
/// var is 0.
at::Tensor drawn_outputs(const at::Tensor& mean, const at::Tensor& var, const Stream& stream);

/// Returns x W^T: x [..., in] -> [..., out]. Adds `bias` [out] if it is defined. For a map of S matrices the
/// result is [S b, ..., out], draw after draw, where `rows` is b: x is [b, ..., in], the same rows for all
/// draws, or [S b, ..., in].
at::Tensor apply(const LinearMap& map, const at::Tensor& x, const at::Tensor& bias = {}, int64_t rows = 0);

/// Returns y + bias: y [..., out], `bias` [out], or y [S b, ..., out], `bias` [S, out] for stacked draws.
/// Returns y itself if `bias` is undefined.
at::Tensor with_bias(const at::Tensor& y, const at::Tensor& bias);

/// Returns the rows of W at the indices `tokens`: [b, ...] int64 -> [b, ..., in], or [S b, ..., in] for a map
/// of S matrices. If the map holds only the rows of some tokens, `tokens` must be among them. Throws
/// std::logic_error for a LocalMap.
at::Tensor rows_of_map(const LinearMap& map, const at::Tensor& tokens);

/// Returns W as one tensor [out, in], or [S, out, in] for a map of S matrices. The DenseMap of a convolution
/// gives [out, channels, kernel, kernel]. Throws std::logic_error if the map holds only the rows of some
/// tokens, and for a LocalMap.
at::Tensor dense(const LinearMap& map);

/// Returns one map of all matrices of `maps`, which must have one form, not LocalMap, and one shape.
/// Tensors that all of them share are not copied.
LinearMap stacked(const std::vector<LinearMap>& maps);

/// Returns the tensors as one with a leading axis [S, ...]; if all are the same tensor, that one.
at::Tensor stacked(const std::vector<at::Tensor>& tensors);

/// Returns the sizes {out, in} of W.
std::pair<int64_t, int64_t> sizes_of(const LinearMap& map);

}  // namespace slimbayes
