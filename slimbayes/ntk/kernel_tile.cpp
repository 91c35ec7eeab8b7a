// Inner products of parameter gradients, computed from the inputs a and the deltas that a GradientBlock
// holds. (delta is the gradient of the network's output with respect to the layer's output.) For a linear
// layer on vectors the gradient of the weight is s delta a^T, and <s delta_i a_i^T, s delta_j a_j^T> = s^2
// <a_i, a_j> <delta_i, delta_j>. So two matrix products and a product of their elements give the inner
// products, and gradients of in * out numbers are not formed.
#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/core/device.h"
#include "slimbayes/ntk/layer_gradients.h"

namespace slimbayes {

namespace {

constexpr int64_t kTilePositions = 1024;  // most rows times positions of each factor: about 8 MB in float64

/// Returns the options of a float64 tensor on the device of the gradients.
at::TensorOptions doubles_of(const GradientBlock& x) {
  return x.layers.empty() ? at::TensorOptions(at::kDouble) : doubles_like(x.layers.front().delta);
}

/// Returns one term for each pair of a position of a row of x and a position of a row of y. K of the two rows
/// is the sum of their p_x p_y terms. x has b_x rows of p_x positions, y has b_y rows of p_y.
/// [b_x p_x, b_y p_y]
at::Tensor position_products(const LayerGradients& x, const LayerGradients& y) {
  const at::Tensor products = at::mm(x.delta.flatten(0, 1), y.delta.flatten(0, 1).t());
  if (x.form == GradientForm::tokens)
    return products * (x.input.reshape({-1, 1}) == y.input.reshape({1, -1}));
  at::Tensor inputs = at::mm(x.input.flatten(0, 1), y.input.flatten(0, 1).t());
  if (x.weight2 != 1) inputs.mul_(x.weight2);
  if (x.bias2 != 0) inputs.add_(x.bias2);
  return inputs.mul_(products);
}

/// Returns the part of a layer's gradients that belongs to the rows [from, to).
LayerGradients rows_of(const LayerGradients& x, int64_t from, int64_t to) {
  LayerGradients part = x;
  part.input = x.input.slice(0, from, to);
  part.delta = x.delta.slice(0, from, to);
  return part;
}

/// Adds the layer's part of K to `out` [b_x, b_y]. Works in pieces of rows, so that the memory for the pairs
/// of positions is bounded.
void add_by_position(const LayerGradients& x, const LayerGradients& y, const at::Tensor& out) {
  const int64_t p_x = x.delta.size(1), p_y = y.delta.size(1);
  const int64_t step_x = std::max<int64_t>(1, kTilePositions / p_x),
                step_y = std::max<int64_t>(1, kTilePositions / p_y);
  for (int64_t i = 0; i < x.delta.size(0); i += step_x) {
    const int64_t end_i = std::min(x.delta.size(0), i + step_x);
    for (int64_t j = 0; j < y.delta.size(0); j += step_y) {
      const int64_t end_j = std::min(y.delta.size(0), j + step_y);
      const at::Tensor all = position_products(rows_of(x, i, end_i), rows_of(y, j, end_j));
      out.slice(0, i, end_i)
          .slice(1, j, end_j)
          .add_(p_x * p_y == 1 ? all : all.view({end_i - i, p_x, end_j - j, p_y}).sum({1, 3}));
    }
  }
}

}  // namespace

at::Tensor kernel_tile(const GradientBlock& x, const GradientBlock& y) {
  const at::Tensor out = at::zeros({x.to - x.from, y.to - y.from}, doubles_of(x));
  for (size_t layer = 0; layer < x.layers.size(); ++layer) {
    const LayerGradients &one = x.layers[layer], &other = y.layers[layer];
    if (one.form == GradientForm::vector)
      out.add_(at::mm(one.delta, other.delta.t()));
    else
      add_by_position(one, other, out);
  }
  return out;
}

at::Tensor kernel_diagonal(const GradientBlock& x) {
  const at::Tensor out = at::zeros({x.to - x.from}, doubles_of(x));
  for (const LayerGradients& layer : x.layers) {
    const at::Tensor& d = layer.delta;
    if (layer.form == GradientForm::vector) {
      out.add_(d.square().sum(1));
      continue;
    }
    if (layer.form == GradientForm::product && d.size(1) == 1) {
      const at::Tensor inputs = layer.input.square().sum({1, 2}).mul_(layer.weight2).add_(layer.bias2);
      out.add_(inputs.mul_(d.square().sum({1, 2})));
      continue;
    }
    const at::Tensor products = at::bmm(d, d.transpose(1, 2));  // [b, positions, positions]
    const at::Tensor weights =
        layer.form == GradientForm::tokens
            ? (layer.input.unsqueeze(2) == layer.input.unsqueeze(1)).to(d.scalar_type())
            : at::bmm(layer.input, layer.input.transpose(1, 2)).mul_(layer.weight2).add_(layer.bias2);
    out.add_(products.mul(weights).sum({1, 2}));
  }
  return out;
}

}  // namespace slimbayes
