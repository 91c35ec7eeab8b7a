#include "slimbayes/nn/network.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

std::vector<ParameterSpec> network_parameters(const NetworkSpec& spec, const std::string& prefix,
                                              const std::string& group, const Stream& stream) {
  std::vector<ParameterSpec> out;
  for (size_t i = 0; i < spec.size(); ++i) {
    const LayerSpec& layer = spec[i];
    std::string name = fmt::format("{}.{}", prefix, i);
    Stream own = stream.split(i);
    if (layer.kind == "linear") {
      double bound = 1 / std::sqrt(static_cast<double>(layer.in));
      out.push_back(
          {name + ".weight", group, bound * (2 * own.split("weight").uniform({layer.out, layer.in}) - 1)});
      out.push_back(
          {name + ".bias", group, bound * (2 * own.split("bias").uniform(at::IntArrayRef{layer.out}) - 1)});
    } else if (layer.kind == "layer_norm") {
      out.push_back({name + ".weight", group, at::ones({layer.in}, at::kDouble)});
      out.push_back({name + ".bias", group, at::zeros({layer.in}, at::kDouble)});
    } else if (layer.kind == "residual") {
      for (ParameterSpec& inner : network_parameters(layer.body, name, group, own))
        out.push_back(std::move(inner));
    }
  }
  return out;
}

Network::Network(const NetworkSpec& spec, const std::string& prefix, const Lookup& lookup)
    : layers_(bind(spec, prefix, lookup)) {}

std::vector<Network::Layer> Network::bind(const NetworkSpec& spec, const std::string& prefix,
                                          const Lookup& lookup) {
  std::vector<Layer> out;
  for (size_t i = 0; i < spec.size(); ++i) {
    const LayerSpec& layer = spec[i];
    std::string name = fmt::format("{}.{}", prefix, i);
    if (layer.kind == "linear" || layer.kind == "layer_norm") {
      bool linear = layer.kind == "linear";
      Layer bound{linear ? Layer::Kind::linear : Layer::Kind::layer_norm,
                  lookup(name + ".weight"),
                  lookup(name + ".bias"),
                  {}};
      if (linear) {
        check_shape(bound.weight, {layer.out, layer.in}, "Network", name + ".weight");
      } else {
        check_shape(bound.weight, {layer.in}, "Network", name + ".weight");
      }
      check_shape(bound.bias, {layer.out}, "Network", name + ".bias");
      out.push_back(std::move(bound));
    } else if (layer.kind == "silu") {
      out.push_back({Layer::Kind::silu, {}, {}, {}});
    } else if (layer.kind == "tanh") {
      out.push_back({Layer::Kind::tanh, {}, {}, {}});
    } else if (layer.kind == "relu") {
      out.push_back({Layer::Kind::relu, {}, {}, {}});
    } else if (layer.kind == "residual") {
      out.push_back({Layer::Kind::residual, {}, {}, bind(layer.body, name, lookup)});
    } else {
      check(false, "Network", "a layer kind of catalog/network_spec.h", layer.kind);
    }
  }
  return out;
}

at::Tensor Network::run(const std::vector<Layer>& layers, at::Tensor x) {
  for (const Layer& layer : layers) {
    switch (layer.kind) {
      case Layer::Kind::linear:
        x = at::linear(x, layer.weight, layer.bias);
        break;
      case Layer::Kind::layer_norm:
        x = at::layer_norm(x, layer.weight.sizes(), layer.weight, layer.bias);
        break;
      case Layer::Kind::silu:
        x = at::silu(x);
        break;
      case Layer::Kind::tanh:
        x = at::tanh(x);
        break;
      case Layer::Kind::relu:
        x = at::relu(x);
        break;
      case Layer::Kind::residual:
        x = x + run(layer.body, x);
        break;
    }
  }
  return x;
}

at::Tensor Network::operator()(at::Tensor x) const { return run(layers_, std::move(x)); }

}  // namespace slimbayes
