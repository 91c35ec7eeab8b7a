#include "slimbayes/engine/plan.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace slimbayes::engine {

using kernels::padded;

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 needs it

/// Returns nothing for a function that the kernels do not have.
std::optional<ActivationStep::Function> function_of(const std::string& name) {
  using enum ActivationStep::Function;
  constexpr std::pair<std::string_view, ActivationStep::Function> kKnown[] = {
      {"silu", silu}, {"tanh", tanh}, {"relu", relu}, {"mish", mish}, {"smooth-clip", smooth_clip}};
  for (const auto& [known, function] : kKnown)
    if (known == name) return function;
  return std::nullopt;
}

}  // namespace

Plan::Plan(int64_t inputs) : inputs_(inputs), at_(new_slot(inputs)), held_(true) {}

Slot Plan::new_slot(int64_t width) {
  const Slot slot{tape_, width};
  tape_ += kChunkRows * slot.ld();
  widest_ = std::max(widest_, width);
  return slot;
}

StepSlots Plan::new_step_slots(int64_t steps, int64_t width) {
  StepSlots slots;
  slots.offset = tape_;
  slots.width = width;
  slots.others = others_;
  tape_ += kChunkRows * slots.ld();
  others_ += (steps - 1) * kChunkRows * slots.ld();
  return slots;
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

std::string Plan::append_periodic(const Periodic& layer, const std::string& name) {
  if (!tensors_.empty()) return "a periodic embedding behind trained layers";
  const int64_t d = at_.width, f = padded(layer.frequencies), e = layer.out - 1;
  PeriodicStep step{at_,      new_slot(d * layer.out), new_slot(d * f), new_slot(d * f), layer.frequencies,
                    layer.out};
  step.frequency = tensor(name + ".frequency", d * layer.frequencies);
  step.phase = tensor(name + ".phase", d * layer.frequencies);
  step.weight = tensor(name + ".weight", d * e * layer.frequencies);
  step.shift = tensor(name + ".bias", d * e);
  step.packed_frequency = new_packed(d * f);
  step.packed_phase = new_packed(d * f);
  step.packed_weight = new_packed(d * e * f);
  step.packed_shift = new_packed(d * e);
  steps_.emplace_back(step);
  at_ = step.out;
  held_ = false;
  return "";
}

void Plan::append_batch_norm(const std::string& name) {
  BatchNormStep step{at_, new_slot(at_.width)};
  step.scale = tensor(name + ".weight", at_.width);
  step.shift = tensor(name + ".bias", at_.width);
  step.mean = tensor(name + ".running_mean", at_.width);
  step.var = tensor(name + ".running_var", at_.width);
  step.packed_scale = new_packed(at_.width);
  step.packed_shift = new_packed(at_.width);
  steps_.emplace_back(step);
  at_ = step.out;
  held_ = trains_ = false;
}

void Plan::append_lstm(const Lstm& layer, const Shape& input, const std::string& name, bool last_alone) {
  const int64_t t = input.sizes[0], d = input.width(), h = layer.out, gates = 4 * padded(h);
  const int64_t kept = last_alone ? 1 : t;
  LstmStep step{.in = at_, .out = new_slot(kept * h), .steps = t, .kept = kept, .features = d, .units = h};
  step.input_gradient = !tensors_.empty();
  step.joined = new_step_slots(t + 1, padded(h) + padded(d));
  step.gates = new_step_slots(t, gates);
  step.cells = new_step_slots(t, h);
  step.squashed = new_step_slots(t, h);
  step.grad_weights = tape_;
  tape_ += gates * (step.joined.width + 1);
  step.grad_hidden = new_slot(h);
  step.grad_cell = new_slot(h);
  step.grad_input = new_slot(d);
  step.weight_ih = tensor(name + ".weight_ih", 4 * h * d);
  step.weight_hh = tensor(name + ".weight_hh", 4 * h * h);
  step.bias_ih = tensor(name + ".bias_ih", 4 * h);
  if (layer.biases == "two") step.bias_hh = tensor(name + ".bias_hh", 4 * h);
  step.transposed = new_packed(step.joined.width * gates);
  step.of_hidden = new_packed(gates * padded(h));
  step.of_input = new_packed(gates * padded(d));
  step.shift = new_packed(gates);
  steps_.emplace_back(step);
  at_ = step.out;
  held_ = false;
}

void Plan::append_last_step(const Shape& input) {
  const ColumnsStep step{at_, new_slot(input.width()), at_.width - input.width()};
  steps_.emplace_back(step);
  at_ = step.out;
  held_ = false;
}

/// Appends the first layers of a network of tokens, if they are an embedding and the mean over the steps,
/// with nothing but dropout between them, of which the plan has none. Returns how many layers these are; 0 if
/// they are others.
size_t Plan::append_token_mean(const NetworkSpec& spec, const std::string& prefix) {
  const auto* embedding = spec.layers.empty() ? nullptr : std::get_if<Embedding>(&spec.layers[0]);
  size_t mean = 1;
  for (; mean < spec.layers.size(); ++mean) {
    const auto* dropout = std::get_if<Dropout>(&spec.layers[mean]);
    if (dropout == nullptr) break;
    every_dropout_ = every_dropout_ && dropout->rate == 0;
  }
  if (embedding == nullptr || mean >= spec.layers.size() ||
      !std::holds_alternative<MeanOverSteps>(spec.layers[mean]))
    return 0;
  const int64_t width = embedding->out, ld = padded(width);
  TokenMeanStep step{.in = at_, .out = new_slot(width), .tokens = embedding->tokens};
  step.vectors = tensor(prefix + ".0.weight", step.tokens * width);
  step.packed_vectors = new_packed(step.tokens * ld);
  if (embedding->positions) {
    step.positions = tensor(prefix + ".0.positions", at_.width * width);
    step.packed_positions = new_packed(at_.width * ld);
  }
  steps_.emplace_back(step);
  tokens_ = step.tokens;
  at_ = step.out;
  held_ = trains_ = false;
  return mean + 1;
}

void Plan::append_norm(const std::string& name) {
  NormStep step{.in = at_, .out = new_slot(at_.width), .unit = new_slot(at_.width)};
  step.inverse_sd = new_slot(1).offset;
  step.scale = tensor(name + ".weight", at_.width);
  step.shift = tensor(name + ".bias", at_.width);
  step.packed_scale = new_packed(at_.width);
  step.packed_shift = new_packed(at_.width);
  steps_.emplace_back(step);
  at_ = step.out;
  held_ = false;
}

std::string Plan::append_residual(const Residual& layer, Shape shape, const std::string& name) {
  if (!layer.shortcut.empty()) return "a residual with layers in its shortcut";
  const Slot shortcut = at_;
  const int64_t depth = open_++;
  depth_ = std::max(depth_, open_);
  held_ = true;
  steps_.emplace_back(ForkStep{shortcut, depth});
  for (size_t i = 0; i < layer.body.size(); ++i) {
    const std::string own = name + "." + std::to_string(i);
    if (std::string why = append(layer.body[i], shape, own); !why.empty()) return why;
    shape = output(layer.body[i], shape, own);
  }
  release();
  steps_.emplace_back(JoinStep{at_, shortcut, depth});
  held_ = false;
  --open_;
  return "";
}

std::string Plan::append(const LayerSpec& layer, const Shape& input, const std::string& name) {
  return std::visit(
      Overloaded{[&](const Linear& one) -> std::string {
                   if (!input.is_vector()) return "a linear layer on each step of a sequence";
                   append_dense(name + ".weight", one.bias ? name + ".bias" : "", one.out, one.scales);
                   return "";
                 },
                 [&](const Activation& one) -> std::string {
                   const auto function = function_of(one.function);
                   if (!function) return "the activation " + one.function;
                   append_activation(*function);
                   return "";
                 },
                 [&](const Scale&) { return append_scale(name + ".weight"), std::string(); },
                 [&](const Periodic& one) { return append_periodic(one, name); },
                 [&](const LayerNorm&) -> std::string {
                   if (!input.is_vector()) return "a layer norm on each step of a sequence";
                   append_norm(name);
                   return "";
                 },
                 [&](const Residual& one) { return append_residual(one, input, name); },
                 [&](const Dropout& one) -> std::string {
                   append_dropout(name, one.rate);
                   return "";
                 },
                 [&](const Flatten&) -> std::string { return ""; },
                 [&](const BatchNorm& one) -> std::string {
                   if (!input.is_vector()) return one.kind;
                   append_batch_norm(name);
                   return "";
                 },
                 [&](const Lstm& one) { return append_lstm(one, input, name, false), std::string(); },
                 [&](const LastStep&) { return append_last_step(input), std::string(); },
                 [&](const auto& one) { return std::string(one.kind); }},
      static_cast<const LayerSpec::variant&>(layer));
}

std::string Plan::append(const NetworkSpec& spec, const std::string& prefix) {
  if (!spec.input.sizes.empty() && spec.input.sizes[0] < 0) return "a sequence of any length";
  Shape shape = spec.input;
  size_t first = 0;
  if (spec.input.tokens) {
    first = append_token_mean(spec, prefix);
    if (first == 0) return "tokens that are not averaged at once";
    shape = {{at_.width}};
  }
  for (size_t i = first; i < spec.layers.size(); ++i) {
    const std::string name = prefix + "." + std::to_string(i);
    const auto* lstm = std::get_if<Lstm>(&spec.layers[i]);
    if (lstm != nullptr && i + 1 < spec.layers.size() &&
        std::holds_alternative<LastStep>(spec.layers[i + 1])) {
      append_lstm(*lstm, shape, name, /*last_alone=*/true);  // the other states need not leave the LSTM
      shape = {{lstm->out}};
      ++i;
      continue;
    }
    if (std::string why = append(spec.layers[i], shape, name); !why.empty()) return why;
    shape = output(spec.layers[i], shape, name);
  }
  return shape.is_vector() ? "" : "an output that is no vector";
}

}  // namespace slimbayes::engine
