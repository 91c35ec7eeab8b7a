#include "slimbayes/nn/network.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/nn/layers.h"

namespace slimbayes {

std::vector<ParameterSpec> network_parameters(const NetworkSpec& spec, const std::string& prefix,
                                              const std::string& group, const Stream& stream) {
  std::vector<ParameterSpec> all;
  Shape shape = spec.input;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const std::string name = fmt::format("{}.{}", prefix, i);
    for (ParameterSpec& one : layer_parameters(spec.layers[i], shape, name, group, stream.split(i)))
      all.push_back(std::move(one));
    shape = output(spec.layers[i], shape, name);
  }
  return all;
}

Network::Network(const NetworkSpec& spec, const std::string& prefix, const Lookup& lookup) {
  Shape shape = spec.input;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const std::string name = fmt::format("{}.{}", prefix, i);
    layers_.push_back(bind_layer(spec.layers[i], shape, name, lookup));
    shape = output(spec.layers[i], shape, name);
  }
}

at::Tensor Network::run(const Input& input, const ForwardContext& context, std::vector<Tap>* taps) const {
  const Pass pass{input.mask, context, taps};
  at::Tensor x = input.x;
  for (const Layer& layer : layers_) x = layer(x, pass);
  return x;
}

at::Tensor Network::operator()(const Input& input, const ForwardContext& context) const {
  return run(input, context, nullptr);
}

Traced Network::traced(const Input& input, const ForwardContext& context) const {
  Traced traced;
  traced.output = run(input, context, &traced.taps);
  return traced;
}

}  // namespace slimbayes
