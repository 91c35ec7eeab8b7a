// Computes A^T A for A = Phi_m^T Q layer by layer. G_l [n, p_l] holds the rows' gradients with respect to the
// parameters of layer l, and A^T A is the sum over l of (Q^T G_l) (Q^T G_l)^T. Each Q^T G_l is summed over
// blocks of rows.
//
// A linear layer on vectors has the gradient g_i = s delta_i a_i^T, so that row c of Q^T G_l is s (diag(q_c)
// delta)^T a. This is one product of [r * out, b] with [b, in] for all c, or r p_l multiply-adds per row, and
// no gradient of a row is formed. For layers with several positions each row's gradient is formed first, at
// the cost of a backward pass. Products are in the type of the model, the sums over blocks are float64.
#include "slimbayes/ntk/layer_sums.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "slimbayes/core/device.h"
#include "slimbayes/ntk/vector_products.h"

namespace slimbayes {

namespace {

// The most numbers that a temporary tensor holds, so that it fits into the processor's cache. A single row
// and column may need more.
constexpr int64_t kPieceNumbers = 1 << 18;
// The most numbers of the rows' gradients that are formed at once. This is more than kPieceNumbers, because a
// matrix product with few rows would be slow.
constexpr int64_t kFormedNumbers = 1 << 22;

/// Returns how many units of `size` numbers fit into kPieceNumbers, at least one.
int64_t units(int64_t size) { return std::max<int64_t>(1, kPieceNumbers / std::max<int64_t>(1, size)); }

/// The sum Q^T G_l of one layer. The tensors are undefined until the first block is added.
struct LayerSum {
  at::Tensor weight;    // product: [r, out, in]; vector: [r, numbers]
  at::Tensor bias;      // [r, out] of a product with a bias
  at::Tensor by_token;  // tokens: [vocabulary, r, out]
};

/// Adds Q^T G to `sum` [r, numbers] for gradients G [b, numbers] that are held as vectors.
void add_vectors(const at::Tensor& gradients, const at::Tensor& q, const at::Tensor& sum) {
  const int64_t step = units(q.size(1));
  for (int64_t k = 0; k < gradients.size(1); k += step) {
    const at::Tensor part = gradients.slice(1, k, std::min(gradients.size(1), k + step));
    sum.narrow(1, k, part.size(1)).add_(q.t().mm(part));
  }
}

void add_product(const LayerGradients& layer, const at::Tensor& q, LayerSum& sum) {
  const int64_t b = q.size(0), r = q.size(1), positions = layer.delta.size(1), out = layer.delta.size(2),
                in = layer.input.size(2);
  const double s = std::sqrt(layer.weight2), t = std::sqrt(layer.bias2);
  if (!sum.weight.defined()) {
    sum.weight = at::zeros({r, out, in}, doubles_like(q));
    if (t != 0) sum.bias = at::zeros({r, out}, doubles_like(q));
  }
  if (t != 0) sum.bias.add_(q.t().mm(layer.delta.sum(1)), t);
  if (positions == 1) {
    const at::Tensor delta = layer.delta.select(1, 0), input = layer.input.select(1, 0);
    const int64_t step = std::min(r, units(out * std::max(b, in)));
    // One buffer for all pieces: fresh memory for each would cost half as much as its product.
    const at::Tensor room = at::empty({b * step * out}, delta.options());
    for (int64_t c = 0; c < r; c += step) {
      const at::Tensor some = q.slice(1, c, std::min(r, c + step));
      at::Tensor weighted = room.narrow(0, 0, b * some.size(1) * out).view({b, some.size(1), out});
      at::mul_out(weighted, some.unsqueeze(2), delta.unsqueeze(1));
      sum.weight.slice(0, c, c + some.size(1)).flatten(0, 1).add_(weighted.flatten(1).t().mm(input), s);
    }
    return;
  }
  const int64_t step = std::max<int64_t>(1, kFormedNumbers / std::max<int64_t>(1, out * in));
  for (int64_t i = 0; i < b; i += step) {
    const int64_t end = std::min(b, i + step);
    const at::Tensor gradients =
        at::bmm(layer.delta.slice(0, i, end).transpose(1, 2), layer.input.slice(0, i, end)).mul_(s);
    add_vectors(gradients.flatten(1), q.slice(0, i, end), sum.weight.flatten(1));
  }
}

void add_tokens(const LayerGradients& layer, const at::Tensor& q, LayerSum& sum) {
  const int64_t b = q.size(0), r = q.size(1), positions = layer.delta.size(1), out = layer.delta.size(2);
  if (!sum.by_token.defined()) sum.by_token = at::zeros({layer.vocabulary, r, out}, doubles_like(q));
  const int64_t rows = std::min(b, units(positions * r * out)), columns = units(rows * positions * out);
  for (int64_t i = 0; i < b; i += rows) {
    const at::Tensor tokens = layer.input.slice(0, i, std::min(b, i + rows)).flatten(),
                     delta = layer.delta.slice(0, i, std::min(b, i + rows)).unsqueeze(2);
    for (int64_t c = 0; c < r; c += columns) {
      const int64_t end = std::min(r, c + columns);
      const at::Tensor some = q.slice(0, i, std::min(b, i + rows)).slice(1, c, end);
      const at::Tensor weighted = some.unsqueeze(1).unsqueeze(3) * delta;  // [rows, positions, columns, out]
      sum.by_token.slice(1, c, end).index_add_(0, tokens, weighted.flatten(0, 1).to(at::kDouble));
    }
  }
}

void add_block(const GradientBlock& block, const at::Tensor& q, std::vector<LayerSum>& sums) {
  sums.resize(block.layers.size());
  for (size_t l = 0; l < block.layers.size(); ++l) {
    const LayerGradients& layer = block.layers[l];
    LayerSum& sum = sums[l];
    if (layer.form == GradientForm::product) {
      add_product(layer, q, sum);
    } else if (layer.form == GradientForm::tokens) {
      add_tokens(layer, q, sum);
    } else {
      if (!sum.weight.defined()) sum.weight = at::zeros({q.size(1), layer.delta.size(1)}, doubles_like(q));
      add_vectors(layer.delta, q, sum.weight);
    }
  }
}

std::vector<at::Tensor> tensors_of(const std::vector<LayerSum>& sums) {
  std::vector<at::Tensor> tensors;
  for (const LayerSum& sum : sums) {
    for (const at::Tensor& one : {sum.weight, sum.bias, sum.by_token})
      if (one.defined()) tensors.push_back(one);
  }
  return tensors;
}

}  // namespace

at::Tensor summed_gram(const PlannedRows& planned, const at::Tensor& q, int64_t kept,
                       const GradientShare& share) {
  const auto& [model, rows, plan] = planned;
  const int64_t r = q.size(1), step = std::min(kTileRows, rows_at_once(plan, model, rows.size, kept));
  const int64_t first = share.first, end = first + q.size(0);
  std::vector<LayerSum> sums;
  const at::Tensor weights = on_device(q, model.device()).to(model.type());
  share.sum([&] {
    for (int64_t from = first; from < end; from += step) {
      for (const GradientBlock& block : gradient_blocks(planned, from, std::min(end, from + step)))
        add_block(block, weights.slice(0, block.from - first, block.to - first), sums);
    }
    return tensors_of(sums);
  });
  const at::Tensor gram = at::zeros({r, r}, model.doubles());
  for (const LayerSum& sum : sums) {
    if (sum.weight.defined()) add_square(sum.weight.flatten(1), gram);
    if (sum.bias.defined()) add_square(sum.bias, gram);
    if (!sum.by_token.defined()) continue;
    const int64_t tokens = sum.by_token.size(0), piece = units(r * sum.by_token.size(2));
    for (int64_t k = 0; k < tokens; k += piece)
      add_square(sum.by_token.slice(0, k, std::min(tokens, k + piece)).transpose(0, 1).flatten(1), gram);
  }
  return on_cpu(gram);
}

}  // namespace slimbayes
