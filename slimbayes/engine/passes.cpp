// The passes of a plan. Each kind of step has its packing, its forward and its backward operation.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "slimbayes/engine/pass.h"

namespace slimbayes::engine {

using kernels::Kernels;
using kernels::padded;

namespace {

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
  void operator()(const LstmStep& s) const { pack_step(s, k, values, packed); }
  void operator()(const TokenMeanStep& s) const {
    rows(s.vectors, s.tokens, s.out.width, 1, s.packed_vectors);
    if (s.positions != DenseStep::kNone) rows(s.positions, s.in.width, s.out.width, 1, s.packed_positions);
  }
  template <class Other>
  void operator()(const Other&) const {}

  static constexpr float kNormEpsilon = 1e-5F;  // of the batch norm, as in PyTorch
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

void forward_step(const Pass& p, const ColumnsStep& s) {
  for (int64_t i = 0; i < p.rows; ++i)
    copy_padded(p.at(s.in) + i * s.in.ld() + s.first, s.out.width, 1, p.at(s.out) + i * s.out.ld());
}

void forward_step(const Pass& p, const TokenMeanStep& s) {
  for (int64_t i = 0; i < p.rows; ++i)
    mean_of_vectors(s, p.packed, p.at(s.in) + i * s.in.ld(), p.at(s.out) + i * s.out.ld());
}

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
void backward_step(Back&, const TokenMeanStep&) {
  throw std::logic_error("[Plan::backward] expected a plan that trains(); received one of tokens");
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
                    std::span<float* const> gradients, const Seen& seen) const {
  const Pass pass{kernels, packed, rows, tape, /*keep=*/true, tape_};
  const int64_t slot = work_slot();
  Back back{pass, gradients, work, work + slot, work + 2 * slot, slot};
  for (size_t i = steps_.size(); i-- > 0;) {
    if (seen) seen(i, back.gradient);
    std::visit([&](const auto& one) { backward_step(back, one); }, steps_[i]);
  }
}

}  // namespace slimbayes::engine
