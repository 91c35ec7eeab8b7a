// The gradients of a network's output with respect to the parameters of each layer, row by row.
//
// In evaluation mode the rows of a batch are independent. So the gradient of the sum of their outputs with
// respect to a layer's output holds the gradient of each row, its delta, and one backward pass serves the
// whole batch. With the layer's input a, which the forward pass records (Tap), the gradient of a weight is
// the sum of delta_p a_p^T over the positions p (Goodfellow 2015, arXiv:1510.01799). If a layer has few
// positions, the inner products of such gradients are computed without forming them (kernel_tile.cpp). For a
// layer with many positions and few weights, such as a convolution, the gradient of each row is formed. A
// padded step has delta = 0, because no output depends on it.
#include "slimbayes/ntk/layer_gradients.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <map>

#include "slimbayes/core/check.h"
#include "slimbayes/nn/layers.h"

namespace slimbayes {

namespace {

constexpr double kBatchBytes = 64 << 20;  // of the tensors that one pass records, their gradients and copies
constexpr int64_t kOpaqueBatch = 128;     // rows of a forward pass if the layers are not known

/// The sizes of a layer's recorded input and output (Tap): the number of positions of a row, and the numbers
/// of inputs and outputs at each position.
struct TapSizes {
  int64_t positions, in, out;
};

bool is_product(const Tap& tap) { return tap.kind == Linear::kind || tap.kind == Conv2d::kind; }
bool is_norm(const Tap& tap) { return tap.kind == LayerNorm::kind || tap.kind == BatchNorm::kind; }

TapSizes sizes_of(const Tap& tap) {
  const at::Tensor &x = tap.input, &y = tap.output;
  if (y.dim() == 4) return {y.size(2) * y.size(3), x.size(1) * tap.kernel * tap.kernel, y.size(1)};  // image
  const int64_t in = tap.kind == Embedding::kind ? tap.parameters.at(0).size(0) : x.size(-1);
  return {y.dim() == 3 ? y.size(1) : 1, in, y.size(-1)};
}

/// Returns whether there is a formula for the gradients of this kind of layer, and the layer's parameters
/// have the sizes that the formula assumes.
bool knows(const Tap& tap) {
  const auto& p = tap.parameters;
  if (tap.kind == Embedding::kind) return p.size() == 2;
  if (is_norm(tap)) return p.size() == 2 && (tap.kind == LayerNorm::kind || tap.statistics.size() == 2);
  if (!is_product(tap) || p.empty() || p.size() > 2) return false;
  const TapSizes sizes = sizes_of(tap);
  return p[0].numel() == sizes.in * sizes.out && (p.size() == 1 || p[1].numel() == sizes.out);
}

/// Describes, for a message, the first layer without a formula, constant weight, or parameter that is not in
/// exactly one layer. Empty if there is none.
std::string unknown_among(const GradientModel& model, const std::vector<Tap>& taps) {
  std::map<const c10::TensorImpl*, int> found;
  for (const at::Tensor& one : model.parameters) found[one.unsafeGetTensorImpl()] = 0;
  for (const Tap& tap : taps) {
    if (!knows(tap)) return fmt::format("the layer {} ({})", tap.layer, tap.kind);
    for (const at::Tensor& one : tap.parameters) {
      const auto here = found.find(one.unsafeGetTensorImpl());
      if (here == found.end()) return fmt::format("a constant in the layer {} ({})", tap.layer, tap.kind);
      if (++here->second > 1) return fmt::format("the layer {}, which shares a parameter", tap.layer);
    }
  }
  for (const at::Tensor& one : model.parameters)
    if (found[one.unsafeGetTensorImpl()] == 0)
      return fmt::format("a parameter of [{}] in no layer", fmt::join(one.sizes(), ", "));
  return "";
}

/// Adds the form and the costs of one layer to the plan.
void plan_tap(const Tap& tap, bool factored, GradientPlan& plan) {
  const auto [positions, in, out] = sizes_of(tap);
  const double p = static_cast<double>(positions), a = static_cast<double>(in), d = static_cast<double>(out);
  GradientForm form = GradientForm::vector;
  if (is_product(tap)) {
    const bool few = factored || positions == 1 || p * p * (a + d) < a * d;
    if (few) form = GradientForm::product;
    plan.numbers += few ? p * (a + d) : (a + 1) * d;
    plan.pair_flops += 2 * (few ? p * p * (a + d) : (a + 1) * d);
    plan.forward_flops += 2 * p * a * d;
    plan.column_flops += 2 * (a + static_cast<double>(tap.parameters.size() - 1)) * d;
    if (!few) plan.gradient_flops += 2 * p * a * d;
    if (few && positions > 1) plan.forming_flops += 2 * p * a * d;
  } else if (is_norm(tap)) {
    plan.numbers += 2 * d;
    plan.pair_flops += 4 * d;
    plan.column_flops += 4 * d;
  } else {  // embedding
    const double places = static_cast<double>(tap.parameters[1].size(0));
    const bool few = factored || p * p * (d + 1) < a * d;
    if (few) form = GradientForm::tokens;
    plan.numbers += (few ? p * (d + 1) : a * d) + places * d;
    plan.pair_flops += 2 * ((few ? p * p * (d + 1) : a * d) + places * d);
    plan.column_flops += 2 * ((few ? p : a) + places) * d;
  }
  plan.forms.push_back(form);
}

/// Returns how many rows one forward pass takes so that its memory stays within kBatchBytes. The memory of a
/// row is that of its recorded activations, their gradients, and images unfolded into windows.
int64_t batch_for(const std::vector<Tap>& taps, size_t element_size) {
  double numbers = 1, unfolded = 0;
  for (const Tap& tap : taps) {
    const auto [positions, in, out] = sizes_of(tap);
    numbers += 3 * static_cast<double>(tap.output.numel()) + static_cast<double>(tap.input.numel());
    if (tap.output.dim() == 4)
      unfolded = std::max(unfolded, static_cast<double>(positions) * static_cast<double>(in));
  }
  const double rows = kBatchBytes / static_cast<double>(element_size) / (numbers + unfolded);
  return std::clamp<int64_t>(static_cast<int64_t>(rows), 1, kTileRows);
}

/// Returns x as [b, positions, numbers]: a vector has one position, a sequence its steps, an image its
/// pixels.
at::Tensor by_position(const at::Tensor& x) {
  if (x.dim() == 2) return x.unsqueeze(1);
  return x.dim() == 3 ? x : x.flatten(2).transpose(1, 2);
}

at::Tensor windows_of(const Tap& tap) {  // [b, positions, in]
  if (tap.kind != Conv2d::kind) return by_position(tap.input);
  return at::im2col(tap.input, {tap.kernel, tap.kernel}, {1, 1}, {tap.padding, tap.padding},
                    {tap.stride, tap.stride})
      .transpose(1, 2);
}

LayerGradients of_product(const Tap& tap, const at::Tensor& delta, GradientForm form) {
  const bool bias = tap.parameters.size() == 2;
  const double s = tap.weight_scale, t = tap.bias_scale;
  const at::Tensor a = windows_of(tap), d = by_position(delta);
  if (form == GradientForm::product) return {form, a.contiguous(), d.contiguous(), s * s, bias ? t * t : 0};
  const at::Tensor weight = at::bmm(d.transpose(1, 2), a).flatten(1).mul_(s);  // [b, out * in]
  return {form, {}, bias ? at::cat({weight, d.sum(1).mul_(t)}, 1) : weight};
}

/// Returns the gradients of a norm's scale and shift: the sums over positions of delta * x^ and of delta,
/// where x^ is the normalised input. x^ is computed from the input again, because dividing the output by a
/// small scale would lose digits.
LayerGradients of_norm(const Tap& tap, const at::Tensor& delta) {
  at::Tensor x;
  if (tap.kind == LayerNorm::kind) {
    x = by_position(at::layer_norm(tap.input, {tap.input.size(-1)}, {}, {}, kNormEpsilon));
  } else {
    x = by_position(tap.input);
    x = (x - tap.statistics[0]) / (tap.statistics[1] + kNormEpsilon).sqrt();
  }
  const at::Tensor d = by_position(delta);
  return {GradientForm::vector, {}, at::cat({(d * x).sum(1), d.sum(1)}, 1)};
}

LayerGradients of_tokens(const Tap& tap, const at::Tensor& delta, GradientForm form) {
  if (form == GradientForm::tokens) return {form, tap.input, delta, 1, 0, tap.parameters[0].size(0)};
  const int64_t b = delta.size(0), out = delta.size(2);
  at::Tensor g = at::zeros({b, tap.parameters[0].size(0), out}, delta.options());
  g.scatter_add_(1, tap.input.unsqueeze(2).expand_as(delta), delta);
  return {form, {}, g.flatten(1)};
}

LayerGradients of_positions(const Tap& tap, const at::Tensor& delta) {
  const int64_t missing = tap.parameters[1].size(0) - delta.size(1);  // a batch may have fewer steps
  return {GradientForm::vector, {}, at::constant_pad_nd(delta, {0, 0, 0, missing}).flatten(1)};
}

using Layers = std::vector<LayerGradients>;

/// Returns the gradients of the rows [from, to) by layer; an embedding has two entries, for its weight and
/// its positions. Runs one forward and one backward pass.
Layers batch_gradients(const PlannedRows& planned, int64_t from, int64_t to) {
  const auto& [model, rows, plan] = planned;
  Traced traced;
  std::vector<at::Tensor> outputs, deltas;
  {
    const at::AutoGradMode with_graph(true);
    traced = model.traced(rows.inputs(from, to));
    if (traced.taps.empty()) return {};
    internal_check(traced.taps.size() == plan.forms.size(), "ntk", "two passes with different taps");
    for (const Tap& tap : traced.taps) outputs.push_back(tap.output);
    deltas = torch::autograd::grad({chosen_outputs(traced.output, rows, from, to).sum()}, outputs, {}, {},
                                   /*create_graph=*/false, /*allow_unused=*/true);
  }
  const at::NoGradGuard no_grad;
  Layers layers;
  for (size_t i = 0; i < traced.taps.size(); ++i) {
    const Tap& tap = traced.taps[i];
    const at::Tensor delta = deltas[i].defined() ? deltas[i] : at::zeros_like(outputs[i]);
    Tap values = tap;
    values.input = tap.input.detach();
    if (is_product(tap)) {
      layers.push_back(of_product(values, delta, plan.forms[i]));
    } else if (is_norm(tap)) {
      layers.push_back(of_norm(values, delta));
    } else {
      layers.push_back(of_tokens(values, delta, plan.forms[i]));
      layers.push_back(of_positions(values, delta));
    }
  }
  return layers;
}

/// Returns the gradients of a model whose layers are not known, by one backward pass for each row.
Layers row_by_row(const GradientModel& model, const GradientRows& rows, int64_t from, int64_t to) {
  const at::AutoGradMode with_graph(true);
  const at::Tensor all = at::zeros({to - from, model.parameter_count()}, model.doubles().dtype(model.type()));
  for (int64_t i = from; i < to; ++i) {
    const at::Tensor y = chosen_outputs(model.output(rows.inputs(i, i + 1)), rows, i, i + 1).sum();
    const auto gradients = torch::autograd::grad({y}, model.parameters, {}, {}, false, /*allow_unused=*/true);
    int64_t offset = 0;
    for (size_t k = 0; k < gradients.size(); ++k) {
      const int64_t size = model.parameters[k].numel();
      if (gradients[k].defined())
        all.select(0, i - from).narrow(0, offset, size).copy_(gradients[k].reshape({-1}));
      offset += size;
    }
  }
  return {{GradientForm::vector, {}, all}};
}

/// Joins the batches of one block. The sequences of a batch with fewer steps are padded, with delta = 0.
Layers joined(std::vector<Layers> batches) {
  if (batches.size() == 1) return std::move(batches.front());
  Layers all = batches.front();
  for (size_t layer = 0; layer < all.size(); ++layer) {
    std::vector<at::Tensor> inputs, deltas;
    int64_t longest = 0;
    for (const Layers& one : batches) longest = std::max(longest, one[layer].delta.size(1));
    for (const Layers& one : batches) {
      const at::Tensor &a = one[layer].input, &d = one[layer].delta;
      const int64_t missing = longest - d.size(1);
      if (d.dim() == 3) {
        deltas.push_back(at::constant_pad_nd(d, {0, 0, 0, missing}));
        inputs.push_back(a.dim() == 3 ? at::constant_pad_nd(a, {0, 0, 0, missing})
                                      : at::constant_pad_nd(a, {0, missing}));
      } else {
        deltas.push_back(d);
      }
    }
    all[layer].delta = at::cat(deltas);
    if (!inputs.empty()) all[layer].input = at::cat(inputs);
  }
  return all;
}

}  // namespace

GradientPlan gradient_plan(const GradientModel& model, const GradientRows& rows, bool factored) {
  const at::NoGradGuard no_grad;
  GradientPlan plan{.unknown = "a module without taps", .forms = {}};
  std::vector<Tap> taps;
  if (model.traced) {
    taps = model.traced(rows.inputs(rows.longest, rows.longest + 1)).taps;
    plan.unknown = unknown_among(model, taps);
  }
  const size_t element = at::elementSize(model.type());
  const bool sized = std::ranges::all_of(taps, knows);
  plan.batch = rows.batch > 0 ? rows.batch : sized && model.traced ? batch_for(taps, element) : kOpaqueBatch;
  if (plan.unknown.empty()) {
    for (const Tap& tap : taps) plan_tap(tap, factored, plan);
  } else {
    plan.numbers = static_cast<double>(model.parameter_count());
    plan.pair_flops = 2 * plan.numbers;
  }
  return plan;
}

std::vector<GradientBlock> gradient_blocks(const PlannedRows& planned, int64_t from, int64_t to) {
  const auto& [model, rows, plan] = planned;
  std::vector<GradientBlock> blocks;
  for (int64_t start = from; start < to; start += kTileRows) {
    const int64_t end = std::min(to, start + kTileRows);
    if (!plan.unknown.empty()) {
      blocks.push_back({start, end, row_by_row(model, rows, start, end)});
      continue;
    }
    std::vector<Layers> batches;
    for (int64_t at = start; at < end; at += plan.batch)
      batches.push_back(batch_gradients(planned, at, std::min(end, at + plan.batch)));
    blocks.push_back({start, end, joined(std::move(batches))});
  }
  return blocks;
}

int64_t rows_at_once(const GradientPlan& plan, const GradientModel& model, int64_t n, int64_t bytes) {
  const double row = std::max(1.0, plan.numbers) * static_cast<double>(at::elementSize(model.type()));
  if (static_cast<double>(n) * row <= static_cast<double>(bytes)) return n;
  const auto rows = static_cast<int64_t>(static_cast<double>(bytes) / 2 / row);
  return rows > kTileRows ? rows / kTileRows * kTileRows : std::max<int64_t>(1, rows);
}

}  // namespace slimbayes
