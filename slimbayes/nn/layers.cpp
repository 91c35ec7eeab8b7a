// The parameters and the computation of each layer of catalog/network/layers.h. ATen's kernels do the work.
// Dropout is written here, with draws from a Stream, because ATen's dropout draws from a global generator.
#include "slimbayes/nn/layers.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

using Specs = std::vector<ParameterSpec>;
using Layer = Network::Layer;
using Pass = Network::Pass;

/// Creates the parameter specs of one layer.
struct Names {
  const std::string& layer;  // prefix of the names
  const std::string& group;
  const Stream& stream;  // random numbers of the initial values

  /// Returns a parameter that starts at U(-1/sqrt(in), 1/sqrt(in)).
  ParameterSpec uniform(const std::string& name, at::IntArrayRef shape, int64_t in) const {
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    return {layer + "." + name, group, bound * (2 * stream.split(name).uniform(shape) - 1)};
  }
  /// Returns a parameter that starts at N(0, sd^2).
  ParameterSpec normal(const std::string& name, at::IntArrayRef shape, double sd) const {
    return {layer + "." + name, group, sd * stream.split(name).normal(shape)};
  }
  /// Returns the weight, and the bias if there is one, of a layer with Scales.
  template <class Scaled>
  Specs scaled(const Scaled& of, at::IntArrayRef shape, int64_t fan_in) const {
    const auto one = [&](const std::string& name, at::IntArrayRef sizes, double rate) {
      ParameterSpec spec =
          of.scales.start > 0 ? normal(name, sizes, of.scales.start) : uniform(name, sizes, fan_in);
      spec.rate = rate;
      return spec;
    };
    Specs specs = {one("weight", shape, of.scales.weight_rate)};
    if (of.bias) specs.push_back(one("bias", {of.out}, of.scales.bias_rate));
    return specs;
  }
  /// Returns a vector parameter that starts at `value`.
  ParameterSpec fixed(const std::string& name, int64_t size, double value) const {
    return {layer + "." + name, group, at::full({size}, value, at::kDouble)};
  }
};

/// Looks up the tensors of one layer and checks their shapes.
struct Bound {
  const std::string& layer;  // prefix of the names
  const Network::Lookup& lookup;

  at::Tensor operator()(const std::string& name, at::IntArrayRef shape) const {
    const at::Tensor x = lookup(layer + "." + name);
    check_shape(x, shape, "Network", layer + "." + name);
    return x;
  }
};

/// Records the input and output of a map if the pass asks for taps, and returns the output. `map` holds all
/// other fields of the tap.
at::Tensor recorded(const Pass& pass, const Tap& map, const at::Tensor& x, at::Tensor y) {
  if (pass.taps != nullptr) {
    Tap& tap = pass.taps->emplace_back(map);
    tap.input = x;
    tap.output = y;
  }
  return y;
}

/// Returns a layer that computes `forward` and is recorded as one tap.
template <class Forward>
Layer tapped(Tap map, Forward forward) {
  return [map, forward](const at::Tensor& x, const Pass& pass) {
    return recorded(pass, map, x, forward(x, pass));
  };
}

/// Returns a tap without input and output. A parameter that is not defined is left out.
Tap tap_of(const std::string& layer, const char* kind, const std::vector<at::Tensor>& parameters,
           const Scales& scales = {}) {
  Tap tap{layer, kind, {}, {}};
  for (const at::Tensor& one : parameters)
    if (one.defined()) tap.parameters.push_back(one);
  tap.weight_scale = scales.weight;
  tap.bias_scale = scales.bias;
  return tap;
}

/// Returns `factor` times `x`, which may be undefined. A factor of 1 costs nothing.
at::Tensor times(const at::Tensor& x, double factor) { return factor == 1 || !x.defined() ? x : x * factor; }

// --- Linear

Specs parameters_of(const Linear& layer, const Shape& in, const Names& names) {
  return names.scaled(layer, {layer.out, in.width()}, in.width());
}

Layer bind(const Linear& layer, const Shape& in, const Bound& bound) {
  const at::Tensor weight = bound("weight", {layer.out, in.width()}),
                   bias = layer.bias ? bound("bias", {layer.out}) : at::Tensor();
  const Tap tap = tap_of(bound.layer, Linear::kind, {weight, bias}, layer.scales);
  const LinearMap map = DenseMap{weight};
  const bool widens = in.width() <= layer.out;  // the multiplier goes to the side with fewer numbers
  return tapped(tap, [=, scales = layer.scales](const at::Tensor& x, const Pass&) {
    const at::Tensor shift = times(bias, scales.bias);
    if (scales.weight == 1 || widens) return apply(map, times(x, scales.weight), shift);
    const at::Tensor y = times(apply(map, x), scales.weight);
    return shift.defined() ? y + shift : y;
  });
}

// --- Activation

Specs parameters_of(const Activation&, const Shape&, const Names&) { return {}; }

Layer bind(const Activation& layer, const Shape&, const Bound&) {
  if (layer.function == "tanh") return [](const at::Tensor& x, const Pass&) { return at::tanh(x); };
  if (layer.function == "relu") return [](const at::Tensor& x, const Pass&) { return at::relu(x); };
  if (layer.function == "gelu") return [](const at::Tensor& x, const Pass&) { return at::gelu(x); };
  return [](const at::Tensor& x, const Pass&) { return at::silu(x); };
}

// --- Norms

Specs parameters_of(const LayerNorm&, const Shape& in, const Names& names) {
  return {names.fixed("weight", in.width(), 1), names.fixed("bias", in.width(), 0)};
}

Layer bind(const LayerNorm&, const Shape& in, const Bound& bound) {
  const at::Tensor weight = bound("weight", {in.width()}), bias = bound("bias", {in.width()});
  return tapped(tap_of(bound.layer, LayerNorm::kind, {weight, bias}),
                [weight, bias](const at::Tensor& x, const Pass&) {
                  return at::layer_norm(x, weight.sizes(), weight, bias, kNormEpsilon);
                });
}

Specs parameters_of(const BatchNorm2d&, const Shape& in, const Names& names) {
  const int64_t c = in.sizes[0];
  const Names buffers{names.layer, kBuffers, names.stream};
  return {names.fixed("weight", c, 1), names.fixed("bias", c, 0), buffers.fixed("running_mean", c, 0),
          buffers.fixed("running_var", c, 1)};
}

Layer bind(const BatchNorm2d& layer, const Shape& in, const Bound& bound) {
  const int64_t c = in.sizes[0];
  const at::Tensor weight = bound("weight", {c}), bias = bound("bias", {c}),
                   mean = bound("running_mean", {c}), var = bound("running_var", {c});
  Tap tap = tap_of(bound.layer, BatchNorm2d::kind, {weight, bias});
  tap.statistics = {mean, var};
  return tapped(tap, [=, momentum = layer.momentum](const at::Tensor& x, const Pass& pass) {
    return at::batch_norm(x, weight, bias, mean, var, pass.context.training, momentum, kNormEpsilon, false);
  });
}

// --- Dropout

Specs parameters_of(const Dropout&, const Shape&, const Names&) { return {}; }

Layer bind(const Dropout& layer, const Shape&, const Bound& bound) {
  return [rate = layer.rate, name = bound.layer](const at::Tensor& x, const Pass& pass) {
    const bool shared = pass.context.dropout_draw;
    if (rate == 0 || (!pass.context.training && !shared)) return x;
    std::vector<int64_t> sizes = x.sizes().vec();
    if (shared) sizes[0] = 1;
    const at::Tensor u = pass.context.stream.split(name).uniform(sizes, at::kFloat);
    return x * (u >= rate).to(x.scalar_type()).div_(1 - rate);
  };
}

// --- Images

Specs parameters_of(const Conv2d& layer, const Shape& in, const Names& names) {
  return names.scaled(layer, {layer.out, in.sizes[0], layer.kernel, layer.kernel},
                      in.sizes[0] * layer.kernel * layer.kernel);
}

Layer bind(const Conv2d& layer, const Shape& in, const Bound& bound) {
  const at::Tensor weight = bound("weight", {layer.out, in.sizes[0], layer.kernel, layer.kernel});
  const at::Tensor bias = layer.bias ? bound("bias", {layer.out}) : at::Tensor();
  Tap tap = tap_of(bound.layer, Conv2d::kind, {weight, bias}, layer.scales);
  tap.kernel = layer.kernel;
  tap.stride = layer.stride;
  tap.padding = layer.padding;
  return tapped(tap, [=](const at::Tensor& x, const Pass&) {  // the weight has fewer numbers than the images
    return at::conv2d(x, times(weight, layer.scales.weight), times(bias, layer.scales.bias), layer.stride,
                      layer.padding);
  });
}

Specs parameters_of(const Pool2d&, const Shape&, const Names&) { return {}; }

Layer bind(const Pool2d& layer, const Shape&, const Bound&) {
  return [layer](const at::Tensor& x, const Pass&) {
    return layer.of == "max" ? at::max_pool2d(x, layer.size) : at::avg_pool2d(x, layer.size);
  };
}

Specs parameters_of(const MeanOverImage&, const Shape&, const Names&) { return {}; }

Layer bind(const MeanOverImage&, const Shape&, const Bound&) {
  return [](const at::Tensor& x, const Pass&) { return x.mean({2, 3}); };
}

Specs parameters_of(const Flatten&, const Shape&, const Names&) { return {}; }

Layer bind(const Flatten&, const Shape&, const Bound&) {
  return [](const at::Tensor& x, const Pass&) { return x.flatten(1); };
}

// --- Sequences

Specs parameters_of(const Embedding& layer, const Shape& in, const Names& names) {
  const double sd = 1 / std::sqrt(static_cast<double>(layer.out));
  return {names.normal("weight", {layer.tokens, layer.out}, sd),
          names.normal("positions", {in.sizes[0], layer.out}, sd)};
}

Layer bind(const Embedding& layer, const Shape& in, const Bound& bound) {
  const at::Tensor weight = bound("weight", {layer.tokens, layer.out}),
                   positions = bound("positions", {in.sizes[0], layer.out});
  const Tap tap = tap_of(bound.layer, Embedding::kind, {weight, positions});
  return tapped(tap, [weight, positions](const at::Tensor& x, const Pass&) {
    return at::embedding(weight, x) + positions.narrow(0, 0, x.size(1));
  });
}

Specs parameters_of(const Lstm& layer, const Shape& in, const Names& names) {
  const int64_t h = layer.out;
  return {names.uniform("weight_ih", {4 * h, in.width()}, h), names.uniform("weight_hh", {4 * h, h}, h),
          names.uniform("bias_ih", {4 * h}, h), names.uniform("bias_hh", {4 * h}, h)};
}

Layer bind(const Lstm& layer, const Shape& in, const Bound& bound) {
  const int64_t h = layer.out;
  const std::vector<at::Tensor> weights = {bound("weight_ih", {4 * h, in.width()}),
                                           bound("weight_hh", {4 * h, h}), bound("bias_ih", {4 * h}),
                                           bound("bias_hh", {4 * h})};
  return tapped(
      tap_of(bound.layer, Lstm::kind, weights), [weights, h](const at::Tensor& x, const Pass& pass) {
        const at::Tensor start = at::zeros({1, x.size(0), h}, x.options());
        return std::get<0>(at::lstm(x, {start, start}, weights, /*has_biases=*/true, /*num_layers=*/1,
                                    /*dropout=*/0, pass.context.training, /*bidirectional=*/false,
                                    /*batch_first=*/true));
      });
}

Specs parameters_of(const Attention&, const Shape& in, const Names& names) {
  const int64_t h = in.width();
  return {names.uniform("in_weight", {3 * h, h}, h), names.uniform("in_bias", {3 * h}, h),
          names.uniform("out_weight", {h, h}, h), names.uniform("out_bias", {h}, h)};
}

Layer bind(const Attention& layer, const Shape& in, const Bound& bound) {
  const int64_t h = in.width();
  const at::Tensor in_weight = bound("in_weight", {3 * h, h}), in_bias = bound("in_bias", {3 * h}),
                   out_weight = bound("out_weight", {h, h}), out_bias = bound("out_bias", {h});
  const Tap in_tap = tap_of(bound.layer + ".in", Linear::kind, {in_weight, in_bias}),
            out_tap = tap_of(bound.layer + ".out", Linear::kind, {out_weight, out_bias});
  const LinearMap into = DenseMap{in_weight}, out = DenseMap{out_weight};
  return [=, heads = layer.heads](const at::Tensor& x, const Pass& pass) {
    const int64_t b = x.size(0), t = x.size(1);
    const at::Tensor all = recorded(pass, in_tap, x, apply(into, x, in_bias))
                               .view({b, t, 3, heads, h / heads})
                               .permute({2, 0, 3, 1, 4});
    std::optional<at::Tensor> mask;
    if (pass.mask.defined()) mask = pass.mask.view({b, 1, 1, t});
    const at::Tensor y =
        at::scaled_dot_product_attention(all[0], all[1], all[2], mask);  // [b, heads, t, h / heads]
    const at::Tensor joined = y.transpose(1, 2).reshape({b, t, h});
    return recorded(pass, out_tap, joined, apply(out, joined, out_bias));
  };
}

Specs parameters_of(const MeanOverSteps&, const Shape&, const Names&) { return {}; }

Layer bind(const MeanOverSteps&, const Shape&, const Bound&) {
  return [](const at::Tensor& x, const Pass& pass) {
    if (!pass.mask.defined()) return x.mean(1);
    const at::Tensor there = pass.mask.to(x.scalar_type()).unsqueeze(2);  // [b, t, 1]
    return (x * there).sum(1) / there.sum(1);
  };
}

Specs parameters_of(const LastStep&, const Shape&, const Names&) { return {}; }

Layer bind(const LastStep&, const Shape&, const Bound&) {
  return [](const at::Tensor& x, const Pass& pass) {
    if (!pass.mask.defined()) return x.select(1, -1);
    const at::Tensor last = (pass.mask.sum(1) - 1).view({-1, 1, 1}).expand({-1, 1, x.size(2)});
    return x.gather(1, last).squeeze(1);
  };
}

// --- Residual

Specs chain_parameters(const std::vector<LayerSpec>& layers, Shape shape, const std::string& name,
                       const std::string& group, const Stream& stream) {
  Specs specs;
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string own = fmt::format("{}.{}", name, i);
    for (ParameterSpec& spec : layer_parameters(layers[i], shape, own, group, stream.split(i)))
      specs.push_back(std::move(spec));
    shape = output(layers[i], shape, own);
  }
  return specs;
}

std::vector<Layer> chain(const std::vector<LayerSpec>& layers, Shape shape, const std::string& name,
                         const Network::Lookup& lookup) {
  std::vector<Layer> bound;
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string own = fmt::format("{}.{}", name, i);
    bound.push_back(bind_layer(layers[i], shape, own, lookup));
    shape = output(layers[i], shape, own);
  }
  return bound;
}

at::Tensor run(const std::vector<Layer>& layers, at::Tensor x, const Pass& pass) {
  for (const Layer& layer : layers) x = layer(x, pass);
  return x;
}

std::string shortcut_name(const std::string& layer) { return layer + ".shortcut"; }

Specs parameters_of(const Residual& layer, const Shape& in, const Names& names) {
  Specs specs = chain_parameters(layer.body, in, names.layer, names.group, names.stream);
  for (ParameterSpec& spec : chain_parameters(layer.shortcut, in, shortcut_name(names.layer), names.group,
                                              names.stream.split("shortcut")))
    specs.push_back(std::move(spec));
  return specs;
}

Layer bind(const Residual& layer, const Shape& in, const Bound& bound) {
  const std::vector<Layer> body = chain(layer.body, in, bound.layer, bound.lookup),
                           shortcut = chain(layer.shortcut, in, shortcut_name(bound.layer), bound.lookup);
  return [body, shortcut](const at::Tensor& x, const Pass& pass) {
    const at::Tensor straight = run(shortcut, x, pass);
    return straight + run(body, x, pass);
  };
}

}  // namespace

bool is_buffer(const std::string& name) {
  return name.ends_with(".running_mean") || name.ends_with(".running_var");
}

Specs layer_parameters(const LayerSpec& layer, const Shape& input, const std::string& name,
                       const std::string& group, const Stream& stream) {
  const Names names{name, group, stream};
  return std::visit([&](const auto& one) { return parameters_of(one, input, names); }, layer);
}

Layer bind_layer(const LayerSpec& layer, const Shape& input, const std::string& name,
                 const Network::Lookup& lookup) {
  const Bound bound{name, lookup};
  return std::visit([&](const auto& one) { return bind(one, input, bound); }, layer);
}

}  // namespace slimbayes
