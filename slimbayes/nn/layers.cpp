// The computation of each layer of catalog/network/layers.h; catalog/network/layer_tensors.cpp lists its
// tensors. ATen's kernels do the work. Dropout is written here, with draws from a Stream, because ATen's
// dropout draws from a global generator.
#include "slimbayes/nn/layers.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <optional>

namespace slimbayes {

namespace {

using Layer = Network::Layer;
using Pass = Network::Pass;

/// Finds the tensors and matrix sites of one layer. A place is an index in Binding::tensors or Binding::maps.
struct Places {
  const std::string& layer;  // its full name, such as "network.0"
  const NetworkLayout& layout;

  size_t tensor(const char* name) const { return layout.tensor(layer + "." + name); }
  size_t map(const char* name) const { return layout.site(layer + "." + name); }
  /// Returns the place of the bias, or nothing if the layer has no bias (`there` is false).
  std::optional<size_t> bias(bool there) const {
    return there ? std::optional(tensor("bias")) : std::nullopt;
  }
};

/// Returns the bias in the binding of a pass; undefined if the layer has no bias.
at::Tensor bias_of(const Pass& pass, const std::optional<size_t>& place) {
  return place ? pass.binding.tensors[*place] : at::Tensor();
}

/// Records the layer's input x, output y and `parameters` as a Tap if the caller of the pass asked for taps.
/// `tap` holds all other fields. Undefined tensors in `parameters` are left out.
void record(const Pass& pass, const Tap& tap, const std::vector<at::Tensor>& parameters, const at::Tensor& x,
            const at::Tensor& y) {
  if (pass.taps == nullptr) return;
  Tap& own = pass.taps->emplace_back(tap);
  for (const at::Tensor& one : parameters)
    if (one.defined()) own.parameters.push_back(one);
  own.input = x;
  own.output = y;
}

/// Returns a tap that holds only the layer's name, kind and multipliers.
Tap tap_of(const std::string& layer, const char* kind, const Scales& scales = {}) {
  Tap tap{layer, kind, {}, {}};
  tap.weight_scale = scales.weight;
  tap.bias_scale = scales.bias;
  return tap;
}

/// Returns `factor` * `x`, or an undefined tensor if `x` is undefined. A factor of 1 costs nothing.
at::Tensor times(const at::Tensor& x, double factor) { return factor == 1 || !x.defined() ? x : x * factor; }

// --- Linear

Layer made(const Linear& layer, const Shape& in, const Places& at) {
  const Tap tap = tap_of(at.layer, Linear::kind, layer.scales);
  const bool widens = in.width() <= layer.out;  // the multiplier is applied to the smaller of x and y
  return [=, scales = layer.scales, weight = at.map("weight"), place = at.bias(layer.bias)](
             const at::Tensor& x, const Pass& pass) {
    const LinearMap& map = pass.binding.maps[weight];
    const at::Tensor bias = bias_of(pass, place), shift = times(bias, scales.bias);
    at::Tensor y;
    if (scales.weight == 1 || widens) {
      y = apply(map, times(x, scales.weight), shift);
    } else {
      y = times(apply(map, x), scales.weight);
      if (shift.defined()) y = y + shift;
    }
    if (pass.taps != nullptr) record(pass, tap, {dense(map), bias}, x, y);
    return y;
  };
}

// --- Activation

Layer made(const Activation& layer, const Shape&, const Places&) {
  if (layer.function == "tanh") return [](const at::Tensor& x, const Pass&) { return at::tanh(x); };
  if (layer.function == "relu") return [](const at::Tensor& x, const Pass&) { return at::relu(x); };
  if (layer.function == "gelu") return [](const at::Tensor& x, const Pass&) { return at::gelu(x); };
  return [](const at::Tensor& x, const Pass&) { return at::silu(x); };
}

// --- Norms

Layer made(const LayerNorm&, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, LayerNorm::kind), w = at.tensor("weight"), b = at.tensor("bias")](
             const at::Tensor& x, const Pass& pass) {
    const at::Tensor &weight = pass.binding.tensors[w], &bias = pass.binding.tensors[b];
    at::Tensor y = at::layer_norm(x, weight.sizes(), weight, bias, kNormEpsilon);
    record(pass, tap, {weight, bias}, x, y);
    return y;
  };
}

Layer made(const BatchNorm2d& layer, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, BatchNorm2d::kind), momentum = layer.momentum, w = at.tensor("weight"),
          b = at.tensor("bias"), m = at.tensor("running_mean"),
          v = at.tensor("running_var")](const at::Tensor& x, const Pass& pass) {
    const auto& tensors = pass.binding.tensors;
    at::Tensor y = at::batch_norm(x, tensors[w], tensors[b], tensors[m], tensors[v], pass.context.training,
                                  momentum, kNormEpsilon, false);
    record(pass, tap, {tensors[w], tensors[b]}, x, y);
    if (pass.taps != nullptr) pass.taps->back().statistics = {tensors[m], tensors[v]};
    return y;
  };
}

// --- Dropout

Layer made(const Dropout& layer, const Shape&, const Places& at) {
  return [rate = layer.rate, name = at.layer](const at::Tensor& x, const Pass& pass) {
    const bool shared = pass.context.dropout_draw;
    if (rate == 0 || (!pass.context.training && !shared)) return x;
    std::vector<int64_t> sizes = x.sizes().vec();
    if (shared) sizes[0] = 1;
    const at::Tensor u = pass.context.stream.split(name).uniform(sizes, at::kFloat);
    return x * (u >= rate).to(x.scalar_type()).div_(1 - rate);
  };
}

// --- Images

Layer made(const Conv2d& layer, const Shape& in, const Places& at) {
  Tap tap = tap_of(at.layer, Conv2d::kind, layer.scales);
  tap.kernel = layer.kernel;
  tap.stride = layer.stride;
  tap.padding = layer.padding;
  const std::vector<int64_t> sizes = {layer.out, in.sizes[0], layer.kernel, layer.kernel};
  return [=, weight_place = at.map("weight"), bias_place = at.bias(layer.bias)](const at::Tensor& x,
                                                                                const Pass& pass) {
    const at::Tensor matrix = dense(pass.binding.maps[weight_place]), bias = bias_of(pass, bias_place);
    const at::Tensor weight = matrix.dim() == 4 ? matrix : matrix.view(sizes);
    at::Tensor y = at::conv2d(x, times(weight, layer.scales.weight), times(bias, layer.scales.bias),
                              layer.stride, layer.padding);  // scales the weight: usually smaller than x
    record(pass, tap, {weight, bias}, x, y);
    return y;
  };
}

Layer made(const Pool2d& layer, const Shape&, const Places&) {
  return [layer](const at::Tensor& x, const Pass&) {
    return layer.of == "max" ? at::max_pool2d(x, layer.size) : at::avg_pool2d(x, layer.size);
  };
}

Layer made(const MeanOverImage&, const Shape&, const Places&) {
  return [](const at::Tensor& x, const Pass&) { return x.mean({2, 3}); };
}

Layer made(const Flatten&, const Shape&, const Places&) {
  return [](const at::Tensor& x, const Pass&) { return x.flatten(1); };
}

// --- Sequences

Layer made(const Embedding&, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, Embedding::kind), w = at.map("weight"), p = at.tensor("positions")](
             const at::Tensor& x, const Pass& pass) {
    const LinearMap& map = pass.binding.maps[w];
    const at::Tensor& positions = pass.binding.tensors[p];
    at::Tensor y = rows(map, x) + positions.narrow(0, 0, x.size(1));
    if (pass.taps != nullptr) record(pass, tap, {dense(map), positions}, x, y);
    return y;
  };
}

Layer made(const Lstm& layer, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, Lstm::kind), h = layer.out, from_input = at.map("weight_ih"),
          from_hidden = at.map("weight_hh"), input_bias = at.tensor("bias_ih"),
          hidden_bias = at.tensor("bias_hh")](const at::Tensor& x, const Pass& pass) {
    const Binding& binding = pass.binding;
    const std::vector<at::Tensor> weights = {dense(binding.maps[from_input]),
                                             dense(binding.maps[from_hidden]), binding.tensors[input_bias],
                                             binding.tensors[hidden_bias]};
    const at::Tensor start = at::zeros({1, x.size(0), h}, x.options());
    at::Tensor y = std::get<0>(at::lstm(x, {start, start}, weights, /*has_biases=*/true, /*num_layers=*/1,
                                        /*dropout=*/0, pass.context.training, /*bidirectional=*/false,
                                        /*batch_first=*/true));
    record(pass, tap, weights, x, y);
    return y;
  };
}

/// The indices in a Binding of an attention layer's tensors and maps.
struct AttentionPlaces {
  size_t in_weight, in_bias, out_bias;  // tensors
  std::array<size_t, 3> in;             // maps: queries, keys, values
  size_t out;                           // map
};

/// Returns the queries, keys and values [b, t, 3 h]. Uses one matrix product if one tensor holds all three
/// matrices, else three products.
at::Tensor attended(const at::Tensor& x, const Binding& binding, const AttentionPlaces& places) {
  const at::Tensor &joint = binding.tensors[places.in_weight], &bias = binding.tensors[places.in_bias];
  if (joint.defined()) return at::linear(x, joint, bias);
  std::vector<at::Tensor> parts;
  for (const size_t place : places.in) parts.push_back(apply(binding.maps[place], x));
  return at::cat(parts, -1) + bias;
}

/// Returns the matrices of the queries, keys and values, one below the other. [3 h, h]
at::Tensor joint_weight(const Binding& binding, const AttentionPlaces& places) {
  const at::Tensor& joint = binding.tensors[places.in_weight];
  if (joint.defined()) return joint;
  std::vector<at::Tensor> parts;
  for (const size_t place : places.in) parts.push_back(dense(binding.maps[place]));
  return at::cat(parts);
}

Layer made(const Attention& layer, const Shape& in, const Places& at) {
  const AttentionPlaces places{at.tensor("in_weight"),
                               at.tensor("in_bias"),
                               at.tensor("out_bias"),
                               {at.map("q"), at.map("k"), at.map("v")},
                               at.map("out_weight")};
  const Tap in_tap = tap_of(at.layer + ".in", Linear::kind),
            out_tap = tap_of(at.layer + ".out", Linear::kind);
  return [=, h = in.width(), heads = layer.heads](const at::Tensor& x, const Pass& pass) {
    const int64_t b = x.size(0), t = x.size(1);
    const auto& [tensors, maps] = pass.binding;
    const at::Tensor projected = attended(x, pass.binding, places);
    if (pass.taps != nullptr)
      record(pass, in_tap, {joint_weight(pass.binding, places), tensors[places.in_bias]}, x, projected);
    const at::Tensor all = projected.view({b, t, 3, heads, h / heads}).permute({2, 0, 3, 1, 4});
    std::optional<at::Tensor> mask;
    if (pass.mask.defined()) mask = pass.mask.view({b, 1, 1, t});
    const at::Tensor y =
        at::scaled_dot_product_attention(all[0], all[1], all[2], mask);  // [b, heads, t, h / heads]
    const at::Tensor joined = y.transpose(1, 2).reshape({b, t, h});
    at::Tensor out = apply(maps[places.out], joined, tensors[places.out_bias]);
    if (pass.taps != nullptr)
      record(pass, out_tap, {dense(maps[places.out]), tensors[places.out_bias]}, joined, out);
    return out;
  };
}

Layer made(const MeanOverSteps&, const Shape&, const Places&) {
  return [](const at::Tensor& x, const Pass& pass) {
    if (!pass.mask.defined()) return x.mean(1);
    const at::Tensor there = pass.mask.to(x.scalar_type()).unsqueeze(2);  // [b, t, 1]
    return (x * there).sum(1) / there.sum(1);
  };
}

Layer made(const LastStep&, const Shape&, const Places&) {
  return [](const at::Tensor& x, const Pass& pass) {
    if (!pass.mask.defined()) return x.select(1, -1);
    const at::Tensor last = (pass.mask.sum(1) - 1).view({-1, 1, 1}).expand({-1, 1, x.size(2)});
    return x.gather(1, last).squeeze(1);
  };
}

// --- Residual

at::Tensor run(const std::vector<Layer>& layers, at::Tensor x, const Pass& pass) {
  for (const Layer& layer : layers) x = layer(x, pass);
  return x;
}

Layer made(const Residual& layer, const Shape& in, const Places& at) {
  const std::vector<Layer> body = made_layers(layer.body, in, at.layer, at.layout),
                           shortcut = made_layers(layer.shortcut, in, at.layer + ".shortcut", at.layout);
  return [body, shortcut](const at::Tensor& x, const Pass& pass) {
    const at::Tensor straight = run(shortcut, x, pass);
    return straight + run(body, x, pass);
  };
}

}  // namespace

bool is_buffer(const std::string& name) {
  return name.ends_with(".running_mean") || name.ends_with(".running_var");
}

std::vector<Layer> made_layers(const std::vector<LayerSpec>& layers, Shape input, const std::string& name,
                               const NetworkLayout& layout) {
  std::vector<Layer> made_in_order;
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string own = fmt::format("{}.{}", name, i);
    const Places places{own, layout};
    made_in_order.push_back(std::visit([&](const auto& one) { return made(one, input, places); }, layers[i]));
    input = output(layers[i], input, own);
  }
  return made_in_order;
}

}  // namespace slimbayes
