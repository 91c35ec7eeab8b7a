// The passes of a plan. Each kind of step has its packing, its forward and its backward operation.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "slimbayes/engine/plan.h"

namespace slimbayes::engine {

using kernels::Kernels;
using kernels::padded;

namespace {

void copy_padded(const float* from, int64_t n, float scale, float* to) {
  if (scale == 1)
    std::copy_n(from, n, to);
  else
    std::transform(from, from + n, to, [scale](float x) { return scale * x; });
  std::fill(to + n, to + padded(n), 0.0F);
}

/// Copies the parameters of a step into the layout that its passes read.
struct Packing {
  const Kernels& k;
  std::span<const float* const> values;
  float* packed;

  /// Copies a tensor [rows, width] to padded rows.
  void rows(size_t tensor, int64_t rows, int64_t width, float scale, int64_t to) const {
    for (int64_t i = 0; i < rows; ++i)
      copy_padded(values[tensor] + i * width, width, scale, packed + to + i * padded(width));
  }

  void operator()(const DenseStep& s) const {
    k.transpose(values[s.weight], s.in.width, s.out.width, s.in.width, s.weight_scale, packed + s.transposed,
                s.out.ld());
    if (s.input_gradient) rows(s.weight, s.out.width, s.in.width, s.weight_scale, s.padded);
    if (s.bias != DenseStep::kNone) rows(s.bias, 1, s.out.width, s.bias_scale, s.shift);
  }
  void operator()(const NormStep& s) const {
    rows(s.scale, 1, s.in.width, 1, s.packed_scale);
    rows(s.shift, 1, s.in.width, 1, s.packed_shift);
  }
  void operator()(const ScaleStep& s) const { rows(s.scale, 1, s.in.width, 1, s.packed_scale); }
  void operator()(const PeriodicStep& s) const {
    constexpr float kRadian = 1 / (2 * std::numbers::pi_v<float>);  // in turns, which the kernels take
    const int64_t d = s.in.width, e = s.width - 1;
    rows(s.frequency, d, s.frequencies, 1, s.packed_frequency);
    rows(s.phase, d, s.frequencies, kRadian, s.packed_phase);
    rows(s.weight, d * e, s.frequencies, 1, s.packed_weight);
    rows(s.shift, 1, d * e, 1, s.packed_shift);
  }
  void operator()(const BatchNormStep& s) const {
    const auto n = static_cast<size_t>(s.in.width);
    for (size_t j = 0; j < n; ++j) {
      const float scale = values[s.scale][j] / std::sqrt(values[s.var][j] + kNormEpsilon);
      packed[static_cast<size_t>(s.packed_scale) + j] = scale;
      packed[static_cast<size_t>(s.packed_shift) + j] = values[s.shift][j] - values[s.mean][j] * scale;
    }
    std::fill(packed + s.packed_scale + n, packed + s.packed_scale + s.in.ld(), 0.0F);
    std::fill(packed + s.packed_shift + n, packed + s.packed_shift + s.in.ld(), 0.0F);
  }
  void operator()(const LstmStep& s) const {
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
      for (int64_t i = 0; s.bias_hh != DenseStep::kNone && i < h; ++i)
        shift[i] += values[s.bias_hh][g * h + i];
    }
  }
  template <class Other>
  void operator()(const Other&) const {}

  static constexpr float kNormEpsilon = 1e-5F;  // of the batch norm, as in PyTorch
};

/// What the passes of all steps share.
struct Pass {
  const Kernels& k;
  const float* packed;
  int64_t rows;
  float* tape;
  bool keep;
  int64_t others;  // where the slots of the other steps of a sequence begin
  DropoutFactors factors = {};
  int64_t first = 0;

  float* at(const Slot& slot) const { return tape + slot.offset; }
  /// Returns the array of one step of a sequence.
  float* at(const StepSlots& slots, int64_t step) const {
    const bool first = step == 0 || !keep;
    return tape + (first ? slots.offset : others + slots.others + (step - 1) * kChunkRows * slots.ld());
  }
};

void forward_step(const Pass& p, const DenseStep& s) {
  p.k.product({.m = p.rows,
               .k = s.in.width,
               .n = s.out.width,
               .a = p.at(s.in),
               .lda = s.in.ld(),
               .b = p.packed + s.transposed,
               .ldb = s.out.ld(),
               .c = p.at(s.out),
               .ldc = s.out.ld(),
               .bias = s.bias == DenseStep::kNone ? nullptr : p.packed + s.shift});
}
void forward_step(const Pass& p, const ActivationStep& s) {
  using enum ActivationStep::Function;
  const auto run = s.function == silu   ? p.k.silu
                   : s.function == tanh ? p.k.tanh
                   : s.function == relu ? p.k.relu
                   : s.function == mish ? p.k.mish
                                        : p.k.smooth_clip;
  run(s.at.of(p.rows), p.at(s.at), p.at(s.slope));
}
void forward_step(const Pass& p, const NormStep& s) {
  p.k.layer_norm(s.in.of(p.rows), p.at(s.in), p.packed + s.packed_scale, p.packed + s.packed_shift,
                 p.at(s.out), p.at(s.unit), p.tape + s.inverse_sd);
}
void forward_step(const Pass& p, const CopyStep& s) {
  std::copy_n(p.at(s.in), p.rows * s.in.ld(), p.at(s.out));
}
void forward_step(const Pass&, const ForkStep&) {}
void forward_step(const Pass& p, const JoinStep& s) {
  p.k.add(s.body.of(p.rows), p.at(s.body), p.at(s.shortcut));
}
void forward_step(const Pass& p, const ScaleStep& s) {
  std::copy_n(p.at(s.in), p.rows * s.in.ld(), p.at(s.out));
  p.k.scale_columns(s.out.of(p.rows), p.at(s.out), p.packed + s.packed_scale);
}

/// Returns the embedding of this chunk for the kernels.
kernels::PeriodicRows rows_of(const Pass& p, const PeriodicStep& s) {
  return {p.rows,
          s.in.width,
          s.frequencies,
          s.width,
          p.packed + s.packed_frequency,
          p.packed + s.packed_phase,
          p.packed + s.packed_weight,
          p.at(s.cosine),
          p.at(s.sine)};
}
void forward_step(const Pass& p, const PeriodicStep& s) {
  p.k.periodic(rows_of(p, s), p.at(s.in), s.in.ld(), p.packed + s.packed_shift, p.at(s.out), s.out.ld());
}

void forward_step(const Pass& p, const DropoutStep& s) {
  p.tape[s.active] = p.factors.empty() ? 0 : 1;
  if (p.factors.empty()) return;
  const float* from = p.factors[s.index] + p.first * s.at.width;
  for (int64_t i = 0; i < p.rows; ++i)
    copy_padded(from + i * s.at.width, s.at.width, 1, p.at(s.factors) + i * s.at.ld());
  p.k.multiply(s.at.of(p.rows), p.at(s.at), p.at(s.factors));
}

void forward_step(const Pass& p, const BatchNormStep& s) {
  std::copy_n(p.at(s.in), p.rows * s.in.ld(), p.at(s.out));
  p.k.scale_shift_columns(s.out.of(p.rows), p.at(s.out), p.packed + s.packed_scale,
                          p.packed + s.packed_shift);
}

/// Returns one step of an LSTM for the kernels.
kernels::LstmCell cell_of(const Pass& p, const LstmStep& s, int64_t t) {
  return {.rows = p.rows,
          .width = s.units,
          .gates = p.at(s.gates, t),
          .before = t == 0 ? nullptr : p.at(s.cells, t - 1),
          .cell = p.at(s.cells, t),
          .squashed = p.at(s.squashed, t)};
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
      // an input that is infinite makes NaN of the gates' padding; that of the hidden state meets zero
      // weights
      std::fill(next + i * ld + s.units, next + i * ld + hp, 0.0F);
      if (const int64_t k = t - (s.steps - s.kept); k >= 0)
        std::copy_n(next + i * ld, s.units, out + i * s.out.ld() + k * s.units);
    }
  }
}
void forward_step(const Pass& p, const ColumnsStep& s) {
  for (int64_t i = 0; i < p.rows; ++i)
    copy_padded(p.at(s.in) + i * s.in.ld() + s.first, s.out.width, 1, p.at(s.out) + i * s.out.ld());
}

/// The state of a backward pass: the gradient of the last step's output, and memory for others.
struct Back {
  const Pass& pass;
  std::span<float* const> gradients;
  float* gradient;
  float* spare;
  float* held;   // the gradients of the shortcuts, one array for each depth
  int64_t slot;  // floats of an array

  float* of(size_t tensor) const { return gradients[tensor]; }
};

void backward_step(Back& b, const DenseStep& s) {
  const Pass& p = b.pass;
  if (float* weight = b.of(s.weight))
    p.k.transposed_product({.m = p.rows,
                            .k = s.out.width,
                            .n = s.in.width,
                            .a = b.gradient,
                            .lda = s.out.ld(),
                            .b = p.at(s.in),
                            .ldb = s.in.ld(),
                            .c = weight,
                            .ldc = s.in.width,
                            .scale = s.weight_scale});
  if (s.bias != DenseStep::kNone && b.of(s.bias) != nullptr)
    p.k.add_column_sums(s.out.of(p.rows), b.gradient, s.bias_scale, b.of(s.bias));
  if (!s.input_gradient) return;
  p.k.product({.m = p.rows,
               .k = s.out.width,
               .n = s.in.width,
               .a = b.gradient,
               .lda = s.out.ld(),
               .b = p.packed + s.padded,
               .ldb = s.in.ld(),
               .c = b.spare,
               .ldc = s.in.ld()});
  std::swap(b.gradient, b.spare);
}
void backward_step(Back& b, const ActivationStep& s) {
  b.pass.k.multiply(s.at.of(b.pass.rows), b.gradient, b.pass.at(s.slope));
}
void backward_step(Back& b, const NormStep& s) {
  const Pass& p = b.pass;
  p.k.layer_norm_backward(s.in.of(p.rows), b.gradient, p.at(s.unit), p.tape + s.inverse_sd,
                          p.packed + s.packed_scale, b.of(s.scale), b.of(s.shift));
}
void backward_step(Back&, const CopyStep&) {}
void backward_step(Back& b, const ForkStep& s) {
  b.pass.k.add(s.at.of(b.pass.rows), b.gradient, b.held + s.depth * b.slot);
}
void backward_step(Back& b, const JoinStep& s) {
  std::copy_n(b.gradient, b.pass.rows * s.body.ld(), b.held + s.depth * b.slot);
}
void backward_step(Back& b, const DropoutStep& s) {
  if (b.pass.tape[s.active] != 0) b.pass.k.multiply(s.at.of(b.pass.rows), b.gradient, b.pass.at(s.factors));
}
void backward_step(Back& b, const ScaleStep& s) {
  const Pass& p = b.pass;
  if (float* scale = b.of(s.scale)) p.k.add_column_products(s.in.of(p.rows), b.gradient, p.at(s.in), scale);
  p.k.scale_columns(s.in.of(p.rows), b.gradient, p.packed + s.packed_scale);
}
void backward_step(Back& b, const PeriodicStep& s) {
  const Pass& p = b.pass;
  p.k.periodic_backward(rows_of(p, s), p.at(s.in), s.in.ld(), b.gradient, s.out.ld(),
                        {b.of(s.frequency), b.of(s.phase), b.of(s.weight), b.of(s.shift)});
}

void backward_step(Back&, const BatchNormStep&) {
  throw std::logic_error("[Plan::backward] expected a plan that trains(); received one with a batch norm");
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
void backward_step(Back& b, const ColumnsStep& s) {
  const Pass& p = b.pass;
  for (int64_t i = 0; i < p.rows; ++i) {
    float* to = b.spare + i * s.in.ld();
    std::fill_n(to, s.in.ld(), 0.0F);
    std::copy_n(b.gradient + i * s.out.ld(), s.out.width, to + s.first);
  }
  std::swap(b.gradient, b.spare);
}

}  // namespace

void Plan::pack(const Kernels& kernels, std::span<const float* const> values, float* packed) const {
  const Packing packing{kernels, values, packed};
  for (const Step& step : steps_) std::visit(packing, step);
}

float* Plan::forward(const Kernels& kernels, const float* packed, const float* x, int64_t ldx, int64_t rows,
                     float* tape, bool keep, DropoutFactors factors, int64_t first) const {
  const Slot input{0, inputs_};
  for (int64_t i = 0; i < rows; ++i) copy_padded(x + i * ldx, inputs_, 1, tape + i * input.ld());
  const Pass pass{kernels, packed, rows, tape, keep, tape_, factors, first};
  for (const Step& step : steps_) std::visit([&](const auto& one) { forward_step(pass, one); }, step);
  return pass.at(at_);
}

void Plan::backward(const Kernels& kernels, const float* packed, int64_t rows, float* tape, float* work,
                    std::span<float* const> gradients) const {
  const Pass pass{kernels, packed, rows, tape, /*keep=*/true, tape_};
  const int64_t slot = work_slot();
  Back back{pass, gradients, work, work + slot, work + 2 * slot, slot};
  for (size_t i = steps_.size(); i-- > 0;)
    std::visit([&](const auto& one) { backward_step(back, one); }, steps_[i]);
}

}  // namespace slimbayes::engine
