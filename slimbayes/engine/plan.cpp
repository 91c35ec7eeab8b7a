#include "slimbayes/engine/plan.h"

#include <algorithm>
#include <cstring>

namespace slimbayes::engine {

using kernels::Kernels;
using kernels::padded;

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 needs it

}  // namespace

// --- Making a plan

Plan::Plan(int64_t inputs) : inputs_(inputs), at_(new_slot(inputs)), held_(true) {}

Slot Plan::new_slot(int64_t width) {
  const Slot slot{tape_, width};
  tape_ += kChunkRows * slot.ld();
  widest_ = std::max(widest_, width);
  return slot;
}

size_t Plan::tensor(const std::string& name, int64_t size) {
  tensors_.push_back(name);
  sizes_.push_back(size);
  return tensors_.size() - 1;
}

int64_t Plan::new_packed(int64_t floats) {
  const int64_t offset = packed_;
  packed_ += padded(floats);
  return offset;
}

void Plan::append_dense(const std::string& weight, const std::string& bias, int64_t out,
                        const Scales& scales) {
  DenseStep step{.in = at_, .out = new_slot(out)};
  step.input_gradient = !tensors_.empty();
  step.weight = tensor(weight, out * at_.width);
  if (!bias.empty()) step.bias = tensor(bias, out);
  step.weight_scale = static_cast<float>(scales.weight);
  step.bias_scale = static_cast<float>(scales.bias);
  step.transposed = new_packed(at_.width * padded(out));
  step.padded = new_packed(out * padded(at_.width));
  step.shift = new_packed(out);
  at_ = step.out;
  held_ = false;
  steps_.emplace_back(step);
}

/// Copies the output of the last operation if it must keep its values, so that the next one may change it.
void Plan::release() {
  if (!held_) return;
  const CopyStep copy{at_, new_slot(at_.width)};
  steps_.emplace_back(copy);
  at_ = copy.out;
  held_ = false;
}

void Plan::append_activation(ActivationStep::Function function) {
  release();
  steps_.emplace_back(ActivationStep{at_, new_slot(at_.width), function});
}

void Plan::append_dropout(const std::string& name, double rate) {
  if (rate == 0) return;
  release();
  steps_.emplace_back(DropoutStep{at_, new_slot(at_.width), new_slot(1).offset, dropouts_.size()});
  dropouts_.push_back({name, rate, at_.width});
}

void Plan::append_scale(const std::string& scale) {
  const ScaleStep step{at_, new_slot(at_.width), tensor(scale, at_.width), new_packed(at_.width)};
  steps_.emplace_back(step);
  at_ = step.out;
  held_ = false;
}

std::string Plan::append(const LayerSpec& layer, const Shape& input, const std::string& name) {
  const auto norm = [&] {
    NormStep step{.in = at_, .out = new_slot(at_.width), .unit = new_slot(at_.width)};
    step.inverse_sd = new_slot(1).offset;
    step.scale = tensor(name + ".weight", at_.width);
    step.shift = tensor(name + ".bias", at_.width);
    step.packed_scale = new_packed(at_.width);
    step.packed_shift = new_packed(at_.width);
    steps_.emplace_back(step);
    at_ = step.out;
    held_ = false;
    return std::string();
  };
  const auto residual = [&](const Residual& one) -> std::string {
    if (!one.shortcut.empty()) return "a residual with layers in its shortcut";
    const Slot shortcut = at_;
    const int64_t depth = open_++;
    depth_ = std::max(depth_, open_);
    held_ = true;
    steps_.emplace_back(ForkStep{shortcut, depth});
    Shape shape = input;
    for (size_t i = 0; i < one.body.size(); ++i) {
      const std::string own = name + "." + std::to_string(i);
      if (std::string why = append(one.body[i], shape, own); !why.empty()) return why;
      shape = output(one.body[i], shape, own);
    }
    release();
    steps_.emplace_back(JoinStep{at_, shortcut, depth});
    held_ = false;
    --open_;
    return "";
  };
  return std::visit(
      Overloaded{[&](const Linear& one) -> std::string {
                   if (!input.is_vector()) return "a linear layer on each step of a sequence";
                   append_dense(name + ".weight", one.bias ? name + ".bias" : "", one.out, one.scales);
                   return "";
                 },
                 [&](const Activation& one) -> std::string {
                   using enum ActivationStep::Function;
                   if (one.function == "gelu") return "the activation gelu";
                   append_activation(one.function == "silu" ? silu : one.function == "tanh" ? tanh : relu);
                   return "";
                 },
                 [&](const LayerNorm&) -> std::string {
                   return input.is_vector() ? norm() : "a layer norm on each step of a sequence";
                 },
                 [&](const Residual& one) { return residual(one); },
                 [&](const Dropout& one) -> std::string {
                   append_dropout(name, one.rate);
                   return "";
                 },
                 [&](const Flatten&) -> std::string { return ""; },
                 [&](const auto& one) { return std::string(one.kind); }},
      static_cast<const std::variant<Linear, Activation, LayerNorm, BatchNorm, Dropout, Conv2d, Pool2d,
                                     Upsample, MeanOverImage, Flatten, Embedding, Lstm, Attention,
                                     MeanOverSteps, LastStep, Residual>&>(layer));
}

std::string Plan::append(const NetworkSpec& spec, const std::string& prefix) {
  if (spec.input.tokens) return "tokens";
  Shape shape = spec.input;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const std::string name = prefix + "." + std::to_string(i);
    if (std::string why = append(spec.layers[i], shape, name); !why.empty()) return why;
    shape = output(spec.layers[i], shape, name);
  }
  return shape.is_vector() ? "" : "an output that is no vector";
}

// --- Passes

namespace {

void copy_padded(const float* from, int64_t n, float scale, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = scale * from[i];
  std::fill(to + n, to + padded(n), 0.0F);
}

/// What the passes of all steps share.
struct Pass {
  const Kernels& k;
  const float* packed;
  int64_t rows;
  float* tape;
  DropoutFactors factors = {};
  int64_t first = 0;

  float* at(const Slot& slot) const { return tape + slot.offset; }
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
  const auto run = s.function == silu ? p.k.silu : s.function == tanh ? p.k.tanh : p.k.relu;
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

void forward_step(const Pass& p, const DropoutStep& s) {
  p.tape[s.active] = p.factors.empty() ? 0 : 1;
  if (p.factors.empty()) return;
  const float* from = p.factors[s.index] + p.first * s.at.width;
  for (int64_t i = 0; i < p.rows; ++i)
    copy_padded(from + i * s.at.width, s.at.width, 1, p.at(s.factors) + i * s.at.ld());
  p.k.multiply(s.at.of(p.rows), p.at(s.at), p.at(s.factors));
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

}  // namespace

void Plan::pack(const Kernels& kernels, std::span<const float* const> values, float* packed) const {
  const auto dense = [&](const DenseStep& s) {
    kernels.transpose(values[s.weight], s.in.width, s.out.width, s.in.width, s.weight_scale,
                      packed + s.transposed, s.out.ld());
    for (int64_t i = 0; i < s.out.width; ++i)
      copy_padded(values[s.weight] + i * s.in.width, s.in.width, s.weight_scale,
                  packed + s.padded + i * s.in.ld());
    if (s.bias != DenseStep::kNone) copy_padded(values[s.bias], s.out.width, s.bias_scale, packed + s.shift);
  };
  const auto norm = [&](const NormStep& s) {
    copy_padded(values[s.scale], s.in.width, 1, packed + s.packed_scale);
    copy_padded(values[s.shift], s.in.width, 1, packed + s.packed_shift);
  };
  const auto scale = [&](const ScaleStep& s) {
    copy_padded(values[s.scale], s.in.width, 1, packed + s.packed_scale);
  };
  for (const Step& step : steps_) std::visit(Overloaded{dense, norm, scale, [](const auto&) {}}, step);
}

float* Plan::forward(const Kernels& kernels, const float* packed, const float* x, int64_t ldx, int64_t rows,
                     float* tape, DropoutFactors factors, int64_t first) const {
  const Slot input{0, inputs_};
  for (int64_t i = 0; i < rows; ++i) copy_padded(x + i * ldx, inputs_, 1, tape + i * input.ld());
  const Pass pass{kernels, packed, rows, tape, factors, first};
  for (const Step& step : steps_) std::visit([&](const auto& one) { forward_step(pass, one); }, step);
  return pass.at(at_);
}

void Plan::backward(const Kernels& kernels, const float* packed, int64_t rows, float* tape, float* work,
                    std::span<float* const> gradients) const {
  const Pass pass{kernels, packed, rows, tape};
  const int64_t slot = work_slot();
  Back back{pass, gradients, work, work + slot, work + 2 * slot, slot};
  for (size_t i = steps_.size(); i-- > 0;)
    std::visit([&](const auto& one) { backward_step(back, one); }, steps_[i]);
}

}  // namespace slimbayes::engine
