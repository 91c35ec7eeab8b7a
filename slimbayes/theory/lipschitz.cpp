// Lipschitz constants of the layers of a network, from the last layer to the first, for bounds of what a
// change of one matrix does to the outputs (theory/truncation.h).
#include "slimbayes/theory/lipschitz.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>

#include "slimbayes/core/check.h"
#include "slimbayes/core/singular_values.h"
#include "slimbayes/nn/layers.h"

namespace slimbayes {

namespace {

/// Returns the constant of a function of a function. The reason of the layer nearest to the outputs remains.
LipschitzConstant after_each_other(const LipschitzConstant& first, const LipschitzConstant& then) {
  if (!then.unknown.empty()) return then;
  if (!first.unknown.empty()) return first;
  return {first.value * then.value, ""};
}

/// Visits the layers of a network and collects the reach of each matrix.
class Reaches {
 public:
  Reaches(const NetworkLayout& layout, const Binding& binding) : layout_(layout), binding_(binding) {}

  /// Returns the constant of a chain of layers. `after` is that of everything between it and the outputs.
  LipschitzConstant chain(const std::vector<LayerSpec>& layers, const Shape& input, const std::string& name,
                          const LipschitzConstant& after) {
    std::vector<Shape> shapes = {input};
    for (size_t i = 0; i < layers.size(); ++i)
      shapes.push_back(output(layers[i], shapes.back(), fmt::format("{}.{}", name, i)));
    LipschitzConstant own;
    for (size_t i = layers.size(); i-- > 0;) {
      const std::string layer = fmt::format("{}.{}", name, i);
      const LipschitzConstant below = after_each_other(own, after);
      const LipschitzConstant one =
          std::visit([&](const auto& kind) { return of(kind, shapes[i], layer, below); }, layers[i]);
      own = after_each_other(one, own);
    }
    return own;
  }

  std::map<std::string, MatrixReach> found;  // by the name of the site

 private:
  using Constant = LipschitzConstant;

  static Constant unknown(const std::string& layer, const char* kind) {
    return {1, fmt::format("{} ({})", layer, kind)};
  }
  void add(const std::string& site, double inputs, const Constant& downstream) {
    found[site] = {site, inputs, downstream};
  }
  double spectral_norm(const std::string& site) const {
    return spectral_tail(singular_values(dense(binding_.maps[layout_.site(site)]).flatten(1)), 0);
  }
  const at::Tensor& tensor(const std::string& name) const { return binding_.tensors[layout_.tensor(name)]; }

  /// The constant of a layer with a matrix whose input enters it `inputs` times.
  Constant matrix(const std::string& layer, double inputs, const Constant& downstream) {
    const std::string site = layer + ".weight";
    add(site, inputs, downstream);
    return {inputs * spectral_norm(site), ""};
  }

  Constant of(const Linear& kind, const Shape&, const std::string& layer, const Constant& after) {
    return matrix(layer, std::abs(kind.scales.weight), after);
  }
  Constant of(const Conv2d& kind, const Shape&, const std::string& layer, const Constant& after) {
    const auto patches = static_cast<double>((kind.kernel + kind.stride - 1) / kind.stride);
    return matrix(layer, std::abs(kind.scales.weight) * patches, after);
  }
  /// Its inputs are tokens: the root of the number of steps stands for the norm of its input.
  Constant of(const Embedding&, const Shape&, const std::string& layer, const Constant& after) {
    add(layer + ".weight", 1, after);
    return {};
  }
  Constant of(const Activation& kind, const Shape&, const std::string&, const Constant&) {
    return {activation_constant(kind.function), ""};
  }
  Constant of(const Scale&, const Shape&, const std::string& layer, const Constant&) {
    return {tensor(layer + ".weight").abs().max().item<double>(), ""};
  }
  /// Each column by itself: the slope of a feature is at most 2 pi sum_k |weight_k frequency_k|, that of the
  /// column itself 1.
  Constant of(const Periodic&, const Shape&, const std::string& layer, const Constant&) {
    const at::Tensor turns = tensor(layer + ".frequency").abs().unsqueeze(1);  // [d, 1, f]
    const at::Tensor slopes =
        2 * std::numbers::pi * (tensor(layer + ".weight").abs() * turns).sum(2);  // [d, e]
    return {(1 + slopes.square().sum(1)).sqrt().max().item<double>(), ""};
  }
  Constant of(const BatchNorm&, const Shape&, const std::string& layer, const Constant&) {
    const at::Tensor factor =
        tensor(layer + ".weight").abs() / (tensor(layer + ".running_var") + kNormEpsilon).sqrt();
    return {factor.max().item<double>(), ""};
  }
  Constant of(const LayerNorm&, const Shape&, const std::string& layer, const Constant&) {
    return unknown(layer, LayerNorm::kind);
  }
  Constant of(const Lstm&, const Shape&, const std::string& layer, const Constant&) {
    const Constant inside = unknown(layer, Lstm::kind);
    for (const char* name : {".weight_ih", ".weight_hh"}) add(layer + name, 1, inside);
    return inside;
  }
  Constant of(const Attention&, const Shape&, const std::string& layer, const Constant&) {
    const Constant inside = unknown(layer, Attention::kind);
    for (const char* name : {".q", ".k", ".v", ".out_weight"}) add(layer + name, 1, inside);
    return inside;
  }
  Constant of(const Residual& kind, const Shape& input, const std::string& layer, const Constant& after) {
    const Constant body = chain(kind.body, input, layer, after);
    const Constant shortcut = chain(kind.shortcut, input, layer + ".shortcut", after);
    if (!body.unknown.empty()) return body;
    if (!shortcut.unknown.empty()) return shortcut;
    return {body.value + shortcut.value, ""};
  }
  Constant of(const MeanOverImage&, const Shape& input, const std::string&, const Constant&) {
    return {1 / std::sqrt(static_cast<double>(input.sizes[1] * input.sizes[2])), ""};
  }
  /// The square of the norm is at most the largest sum over a column (size^2) times that over a row (1).
  Constant of(const Upsample& kind, const Shape&, const std::string&, const Constant&) {
    return {static_cast<double>(kind.size), ""};
  }
  Constant of(const Pool2d& kind, const Shape&, const std::string&, const Constant&) {
    return {kind.of == "max" ? 1 : 1 / static_cast<double>(kind.size), ""};
  }
  Constant of(const Dropout&, const Shape&, const std::string&, const Constant&) { return {}; }
  Constant of(const Flatten&, const Shape&, const std::string&, const Constant&) { return {}; }
  Constant of(const MeanOverSteps&, const Shape&, const std::string&, const Constant&) { return {}; }
  Constant of(const LastStep&, const Shape&, const std::string&, const Constant&) { return {}; }

  const NetworkLayout& layout_;
  const Binding& binding_;
};

}  // namespace

double activation_constant(const std::string& function) {
  if (function == "relu" || function == "tanh" || function == "smooth-clip") return 1;
  if (function == "mish") return 1.0885;   // largest slope 1.088498...
  if (function == "silu") return 1.09984;  // largest slope 1.099839...
  check(function == "gelu", "lipschitz", "relu, tanh, silu, gelu, mish or smooth-clip", function);
  return 1.129;  // largest slope 1.12890..., at sqrt(2)
}

std::vector<MatrixReach> matrix_reaches(const NetworkSpec& spec, const NetworkLayout& layout,
                                        const Binding& binding) {
  Reaches reaches(layout, binding);
  reaches.chain(spec.layers, spec.input, layout.prefix, {});
  std::vector<MatrixReach> all;
  for (const MapSite& site : layout.sites) all.push_back(reaches.found.at(site.name));
  return all;
}

}  // namespace slimbayes
