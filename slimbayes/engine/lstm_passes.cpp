// The passes of an LSTM: a step of a sequence is one product with both weights, side by side.
#include <utility>

#include "slimbayes/engine/pass.h"

namespace slimbayes::engine {

using kernels::Kernels;
using kernels::padded;

namespace {

/// Returns one step of an LSTM for the kernels.
kernels::LstmCell cell_of(const Pass& p, const LstmStep& s, int64_t t) {
  return {.rows = p.rows,
          .width = s.units,
          .gates = p.at(s.gates, t),
          .before = t == 0 ? nullptr : p.at(s.cells, t - 1),
          .cell = p.at(s.cells, t),
          .squashed = p.at(s.squashed, t)};
}

/// Adds to `weights` [gates, joined] and `sums` [gates], all padded, the gradients by step t, whose gates
/// hold the gradients of their sums.
void add_lstm_gradients(const Pass& p, const LstmStep& s, int64_t t, float* weights, float* sums) {
  const int64_t gates = s.gates.ld(), ld = s.joined.ld(), from = t == 0 ? padded(s.units) : 0;
  const float* of_gates = p.at(s.gates, t);
  p.k.transposed_product({.m = p.rows,
                          .k = gates,
                          .n = ld - from,
                          .a = of_gates,
                          .lda = gates,
                          .b = p.at(s.joined, t) + from,
                          .ldb = ld,
                          .c = weights + from,
                          .ldc = ld});
  p.k.add_column_sums({p.rows, gates, gates}, of_gates, 1, sums);
}

/// Adds the sums over all steps to the gradients of the tensors, which have no padding.
void add_to_tensors(const Back& b, const LstmStep& s, const float* weights, const float* sums) {
  const int64_t h = s.units, d = s.features, hp = padded(h);
  const auto add = [](const float* from, int64_t n, float* to) {
    for (int64_t j = 0; j < n; ++j) to[j] += from[j];
  };
  for (int64_t g = 0; g < 4; ++g) {
    for (int64_t i = 0; i < h; ++i) {
      const float* row = weights + (g * hp + i) * s.joined.ld();
      if (float* to = b.of(s.weight_hh)) add(row, h, to + (g * h + i) * h);
      if (float* to = b.of(s.weight_ih)) add(row + hp, d, to + (g * h + i) * d);
    }
    for (const size_t bias : {s.bias_ih, s.bias_hh})
      if (bias != DenseStep::kNone && b.of(bias) != nullptr) add(sums + g * hp, h, b.of(bias) + g * h);
  }
}

}  // namespace

void pack_step(const LstmStep& s, const Kernels& k, std::span<const float* const> values, float* packed) {
  const int64_t h = s.units, d = s.features, hp = padded(h), dp = padded(d), gates = 4 * hp;
  std::fill_n(packed + s.transposed, (hp + dp) * gates, 0.0F);
  std::fill_n(packed + s.of_hidden, gates * hp, 0.0F);
  std::fill_n(packed + s.of_input, gates * dp, 0.0F);
  for (int64_t g = 0; g < 4; ++g) {
    const float *hidden = values[s.weight_hh] + g * h * h, *input = values[s.weight_ih] + g * h * d;
    float *to = packed + s.transposed + g * hp, *shift = packed + s.shift + g * hp;
    k.transpose(hidden, h, h, h, 1, to, gates);
    k.transpose(input, d, h, d, 1, to + hp * gates, gates);
    for (int64_t i = 0; i < h; ++i) {
      copy_padded(hidden + i * h, h, 1, packed + s.of_hidden + (g * hp + i) * hp);
      copy_padded(input + i * d, d, 1, packed + s.of_input + (g * hp + i) * dp);
    }
    copy_padded(values[s.bias_ih] + g * h, h, 1, shift);
    for (int64_t i = 0; s.bias_hh != DenseStep::kNone && i < h; ++i) shift[i] += values[s.bias_hh][g * h + i];
  }
}

void forward_step(const Pass& p, const LstmStep& s) {
  const int64_t hp = padded(s.units), gates = s.gates.ld(), ld = s.joined.ld();
  float* out = p.at(s.out);
  for (int64_t i = 0; i < p.rows; ++i)
    std::fill_n(out + (i + 1) * s.out.ld() - kernels::kPad, kernels::kPad, 0.0F);
  for (int64_t t = 0; t < s.steps; ++t) {
    float *joined = p.at(s.joined, t), *next = p.at(s.joined, t + 1);
    for (int64_t i = 0; i < p.rows; ++i)
      copy_padded(p.at(s.in) + i * s.in.ld() + t * s.features, s.features, 1, joined + i * ld + hp);
    const int64_t from = t == 0 ? hp : 0;  // the first hidden state is zero
    const kernels::LstmCell cell = cell_of(p, s, t);
    p.k.product({.m = p.rows,
                 .k = hp + s.features - from,
                 .n = gates,
                 .a = joined + from,
                 .lda = ld,
                 .b = p.packed + s.transposed + from * gates,
                 .ldb = gates,
                 .c = cell.gates,
                 .ldc = gates,
                 .bias = p.packed + s.shift});
    p.k.lstm(cell, next, ld);
    for (int64_t i = 0; i < p.rows; ++i) {
      // an infinite input makes NaN of the padding, which would spread to all units at the next step
      std::fill(next + i * ld + s.units, next + i * ld + hp, 0.0F);
      if (const int64_t k = t - (s.steps - s.kept); k >= 0)
        std::copy_n(next + i * ld, s.units, out + i * s.out.ld() + k * s.units);
    }
  }
}

void backward_step(Back& b, const LstmStep& s) {
  const Pass& p = b.pass;
  const int64_t h = s.units, hp = padded(h), dp = padded(s.features);
  float *hidden = p.at(s.grad_hidden), *cell = p.at(s.grad_cell), *input = p.at(s.grad_input);
  std::fill_n(hidden, p.rows * hp, 0.0F);
  std::fill_n(cell, p.rows * hp, 0.0F);
  float *weights = p.tape + s.grad_weights, *sums = weights + s.gates.ld() * s.joined.ld();
  std::fill(weights, sums + s.gates.ld(), 0.0F);
  if (s.input_gradient) std::fill_n(b.spare, p.rows * s.in.ld(), 0.0F);
  /// Computes the gradient of what the gates' sums were made from, [rows, n].
  const auto through = [&](const float* gates, int64_t weight, int64_t n, float* to) {
    p.k.product({.m = p.rows,
                 .k = s.gates.ld(),
                 .n = n,
                 .a = gates,
                 .lda = s.gates.ld(),
                 .b = p.packed + weight,
                 .ldb = padded(n),
                 .c = to,
                 .ldc = padded(n)});
  };
  for (int64_t t = s.steps; t-- > 0;) {
    const int64_t k = t - (s.steps - s.kept);
    for (int64_t i = 0; k >= 0 && i < p.rows; ++i)
      for (int64_t j = 0; j < h; ++j) hidden[i * hp + j] += b.gradient[i * s.out.ld() + k * h + j];
    const kernels::LstmCell at = cell_of(p, s, t);
    p.k.lstm_backward(at, hidden, cell);
    add_lstm_gradients(p, s, t, weights, sums);
    if (t > 0) through(at.gates, s.of_hidden, h, hidden);
    if (!s.input_gradient) continue;
    through(at.gates, s.of_input, s.features, input);
    for (int64_t i = 0; i < p.rows; ++i)
      std::copy_n(input + i * dp, s.features, b.spare + i * s.in.ld() + t * s.features);
  }
  add_to_tensors(b, s, weights, sums);
  if (s.input_gradient) std::swap(b.gradient, b.spare);
}

}  // namespace slimbayes::engine
