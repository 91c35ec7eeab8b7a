// The computation of each layer of catalog/network/layers.h; catalog/network/layer_tensors.cpp lists its
// tensors. The layers for sequences are in sequence_layers.cpp. ATen's kernels do the work. Dropout is
// written here, with draws from a Stream, because ATen's dropout draws from a global generator.
#include "slimbayes/nn/layers.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <numbers>
#include <optional>

#include "slimbayes/nn/layer_parts.h"

namespace slimbayes {

namespace {

using Layer = Network::Layer;
using Pass = Network::Pass;

/// Returns `factor` * `x`, or an undefined tensor if `x` is undefined. A factor of 1 costs nothing.
at::Tensor times(const at::Tensor& x, double factor) { return factor == 1 || !x.defined() ? x : x * factor; }

// --- Linear

Layer made_layer(const Linear& layer, const Shape& in, const Places& at) {
  const Tap tap = tap_of(at.layer, Linear::kind, layer.scales);
  const bool widens = in.width() <= layer.out;  // the multiplier is applied to the smaller of x and y
  return [=, scales = layer.scales, weight = at.map("weight"), place = at.tensor("bias", layer.bias)](
             const at::Tensor& x, const Pass& pass) {
    const LinearMap& map = pass.binding.maps[weight];
    const at::Tensor bias = tensor_of(pass, place), shift = times(bias, scales.bias);
    at::Tensor y;
    if (scales.weight == 1 || widens) {
      y = apply(map, times(x, scales.weight), shift, pass.rows);
    } else {
      y = with_bias(times(apply(map, x, {}, pass.rows), scales.weight), shift);
    }
    if (pass.taps != nullptr) record(pass, tap, {dense(map), bias}, x, y);
    return y;
  };
}

// --- Activation

Layer made_layer(const Activation& layer, const Shape&, const Places&) {
  if (layer.function == "tanh") return [](const at::Tensor& x, const Pass&) { return at::tanh(x); };
  if (layer.function == "relu") return [](const at::Tensor& x, const Pass&) { return at::relu(x); };
  if (layer.function == "gelu") return [](const at::Tensor& x, const Pass&) { return at::gelu(x); };
  if (layer.function == "mish") return [](const at::Tensor& x, const Pass&) { return at::mish(x); };
  if (layer.function == "smooth-clip")
    return [](const at::Tensor& x, const Pass&) {
      const at::Tensor near = x.clamp(-1e9, 1e9);  // the square of a larger number overflows
      return near * at::rsqrt(1 + (near / 3).square());
    };
  return [](const at::Tensor& x, const Pass&) { return at::silu(x); };
}

// --- Scales and embeddings of single features

Layer made_layer(const Scale&, const Shape&, const Places& at) {
  return
      [tap = tap_of(at.layer, Scale::kind), w = at.tensor("weight")](const at::Tensor& x, const Pass& pass) {
        const at::Tensor& weight = pass.binding.tensors[w];
        at::Tensor y = x * weight;
        record(pass, tap, {weight}, x, y);
        return y;
      };
}

Layer made_layer(const Periodic&, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, Periodic::kind), f = at.tensor("frequency"), p = at.tensor("phase"),
          w = at.tensor("weight"), b = at.tensor("bias")](const at::Tensor& x, const Pass& pass) {
    const auto& tensors = pass.binding.tensors;
    const at::Tensor column = x.unsqueeze(2);                                                     // [b, d, 1]
    const at::Tensor cosines = at::cos(2 * std::numbers::pi * column * tensors[f] + tensors[p]);  // [b, d, f]
    const at::Tensor sums = at::bmm(cosines.transpose(0, 1), tensors[w].transpose(1, 2));         // [d, b, e]
    at::Tensor y = at::cat({sums.transpose(0, 1) + tensors[b], column}, 2).flatten(1);
    record(pass, tap, {tensors[f], tensors[p], tensors[w], tensors[b]}, x, y);
    return y;
  };
}

// --- Norms

Layer made_layer(const LayerNorm&, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, LayerNorm::kind), w = at.tensor("weight"), b = at.tensor("bias")](
             const at::Tensor& x, const Pass& pass) {
    const at::Tensor &weight = pass.binding.tensors[w], &bias = pass.binding.tensors[b];
    at::Tensor y = at::layer_norm(x, weight.sizes(), weight, bias, kNormEpsilon);
    record(pass, tap, {weight, bias}, x, y);
    return y;
  };
}

/// Returns a batch norm of x [b, c, ...] in training by the statistics of the rows of all processes, and
/// averages them in `mean` and `var` [c].
at::Tensor batch_norm_of_all(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             const at::Tensor& mean, const at::Tensor& var, double momentum,
                             const ForwardContext& context) {
  std::vector<int64_t> others = {0}, sizes = {1, -1};  // all dimensions but that of the channels
  for (int64_t d = 2; d < x.dim(); ++d) {
    others.push_back(d);
    sizes.push_back(1);
  }
  const at::Tensor shift = mean.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
  const at::Tensor apart = x.to(at::kDouble) - shift.view(sizes);
  const at::Tensor rows = at::full_like(shift, static_cast<double>(x.numel() / x.size(1)));
  const at::Tensor sums = context.total(at::stack({apart.sum(others), apart.square().sum(others), rows}));
  const at::Tensor n = sums[2].detach(), from_shift = sums[0] / n, own_mean = shift + from_shift,
                   own_var = sums[1] / n - from_shift.square(),
                   scale = weight.to(at::kDouble) * at::rsqrt(own_var + kNormEpsilon);
  {
    // The averages may lie beside the parameters in one tensor, whose values the backward pass still needs:
    // variable_data() does not tell autograd of the change.
    const at::NoGradGuard no_grad;
    mean.variable_data().mul_(1 - momentum).add_((momentum * own_mean).to(mean.scalar_type()));
    var.variable_data().mul_(1 - momentum).add_((momentum * own_var * n / (n - 1)).to(var.scalar_type()));
  }
  return x * scale.view(sizes).to(x.scalar_type()) +
         (bias - own_mean * scale).view(sizes).to(x.scalar_type());
}

Layer made_layer(const BatchNorm& layer, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, BatchNorm::kind), momentum = layer.momentum, w = at.tensor("weight"),
          b = at.tensor("bias"), m = at.tensor("running_mean"),
          v = at.tensor("running_var")](const at::Tensor& x, const Pass& pass) {
    const auto& tensors = pass.binding.tensors;
    at::Tensor y =
        pass.context.training && pass.context.total
            ? batch_norm_of_all(x, tensors[w], tensors[b], tensors[m], tensors[v], momentum, pass.context)
            : at::batch_norm(x, tensors[w], tensors[b], tensors[m], tensors[v], pass.context.training,
                             momentum, kNormEpsilon, false);
    record(pass, tap, {tensors[w], tensors[b]}, x, y);
    if (pass.taps != nullptr) pass.taps->back().statistics = {tensors[m], tensors[v]};
    return y;
  };
}

// --- Dropout

Layer made_layer(const Dropout& layer, const Shape&, const Places& at) {
  return [rate = layer.rate, name = at.layer](const at::Tensor& x, const Pass& pass) {
    const bool shared = pass.context.dropout_draw;
    if (rate == 0 || !drops(pass.context)) return x;
    std::vector<int64_t> sizes = x.sizes().vec();
    if (shared) sizes[0] = 1;
    return x * dropout_factors(name, rate, sizes, x.options(), pass.context.stream);
  };
}

// --- Images

Layer made_layer(const Conv2d& layer, const Shape& in, const Places& at) {
  Tap tap = tap_of(at.layer, Conv2d::kind, layer.scales);
  tap.kernel = layer.kernel;
  tap.stride = layer.stride;
  tap.padding = layer.padding;
  const std::vector<int64_t> sizes = {layer.out, in.sizes[0], layer.kernel, layer.kernel};
  return [=, weight_place = at.map("weight"), bias_place = at.tensor("bias", layer.bias)](const at::Tensor& x,
                                                                                          const Pass& pass) {
    const at::Tensor bias = tensor_of(pass, bias_place);
    if (const auto* local = std::get_if<LocalMap>(&pass.binding.maps[weight_place])) {
      const auto over = [&](const at::Tensor& rows, const at::Tensor& w, const at::Tensor& shift) {
        return at::conv2d(rows, w, shift, layer.stride, layer.padding);
      };
      const at::Tensor mean =
          over(x, times(local->mean, layer.scales.weight), times(bias, layer.scales.bias));
      const at::Tensor sd = times(local->sd, layer.scales.weight);
      return drawn_outputs(mean, over(x.square(), sd.square(), {}), local->stream);
    }
    const at::Tensor matrix = dense(pass.binding.maps[weight_place]);
    const at::Tensor weight = matrix.dim() == 4 ? matrix : matrix.view(sizes);
    at::Tensor y = at::conv2d(x, times(weight, layer.scales.weight), times(bias, layer.scales.bias),
                              layer.stride, layer.padding);  // scales the weight: usually smaller than x
    record(pass, tap, {weight, bias}, x, y);
    return y;
  };
}

Layer made_layer(const Pool2d& layer, const Shape&, const Places&) {
  return [layer](const at::Tensor& x, const Pass&) {
    return layer.of == "max" ? at::max_pool2d(x, layer.size) : at::avg_pool2d(x, layer.size);
  };
}

Layer made_layer(const Upsample& layer, const Shape& in, const Places&) {
  const std::vector<int64_t> sizes = {in.sizes[1] * layer.size, in.sizes[2] * layer.size};
  return [sizes](const at::Tensor& x, const Pass&) {
    return at::upsample_bilinear2d(x, sizes, /*align_corners=*/false);
  };
}

Layer made_layer(const MeanOverImage&, const Shape&, const Places&) {
  return [](const at::Tensor& x, const Pass&) { return x.mean({2, 3}); };
}

Layer made_layer(const Flatten&, const Shape&, const Places&) {
  return [](const at::Tensor& x, const Pass&) { return x.flatten(1); };
}

// --- Residual

at::Tensor run(const std::vector<Layer>& layers, at::Tensor x, const Pass& pass) {
  for (const Layer& layer : layers) x = layer(x, pass);
  return x;
}

Layer made_layer(const Residual& layer, const Shape& in, const Places& at) {
  const std::vector<Layer> body = made_layers(layer.body, in, at.layer, at.layout),
                           shortcut = made_layers(layer.shortcut, in, at.layer + ".shortcut", at.layout);
  return [body, shortcut](const at::Tensor& x, const Pass& pass) {
    const at::Tensor straight = run(shortcut, x, pass);
    return straight + run(body, x, pass);
  };
}

}  // namespace

at::Tensor tensor_of(const Pass& pass, const std::optional<size_t>& place) {
  return place ? pass.binding.tensors[*place] : at::Tensor();
}

void record(const Pass& pass, const Tap& tap, const std::vector<at::Tensor>& parameters, const at::Tensor& x,
            const at::Tensor& y) {
  if (pass.taps == nullptr) return;
  Tap& own = pass.taps->emplace_back(tap);
  for (const at::Tensor& one : parameters)
    if (one.defined()) own.parameters.push_back(one);
  own.input = x;
  own.output = y;
}

Tap tap_of(const std::string& layer, const char* kind, const Scales& scales) {
  Tap tap{layer, kind, {}, {}};
  tap.weight_scale = scales.weight;
  tap.bias_scale = scales.bias;
  return tap;
}

bool is_buffer(const std::string& name) {
  return name.ends_with(".running_mean") || name.ends_with(".running_var");
}

std::vector<Layer> made_layers(const std::vector<LayerSpec>& layers, Shape input, const std::string& name,
                               const NetworkLayout& layout) {
  std::vector<Layer> made_in_order;
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string own = fmt::format("{}.{}", name, i);
    const Places places{own, layout};
    made_in_order.push_back(
        std::visit([&](const auto& one) { return made_layer(one, input, places); }, layers[i]));
    input = output(layers[i], input, own);
  }
  return made_in_order;
}

}  // namespace slimbayes
