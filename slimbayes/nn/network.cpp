#include "slimbayes/nn/network.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string_view>

#include "slimbayes/core/check.h"
#include "slimbayes/engine/plan.h"
#include "slimbayes/nn/layers.h"

namespace slimbayes {

namespace {

/// Returns the stream of a layer: `root` split by the parts of its name, such as 3, "shortcut" and 0 for
/// "3.shortcut.0".
Stream layer_stream(Stream root, std::string_view name) {
  while (!name.empty()) {
    const std::string part(name.substr(0, name.find('.')));
    const bool number = std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    root = number ? root.split(std::stoull(part)) : root.split(part);
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  return root;
}

/// Draws the initial values of a tensor by its rule (StartRule). Float64.
at::Tensor started(const TensorShape& tensor, const Stream& stream) {
  switch (tensor.start.kind) {
    case StartRule::Kind::uniform:
      return tensor.start.value * (2 * stream.uniform(tensor.sizes) - 1);
    case StartRule::Kind::normal:
      return tensor.start.value * stream.normal(tensor.sizes);
    case StartRule::Kind::forget_gate: {
      at::Tensor bias = at::zeros(tensor.sizes, at::kDouble);
      bias.chunk(4)[1].fill_(tensor.start.value);
      return bias;
    }
    case StartRule::Kind::constant:
      break;
  }
  return at::full(tensor.sizes, tensor.start.value, at::kDouble);
}

}  // namespace

std::vector<ParameterSpec> network_parameters(const NetworkSpec& spec, const std::string& prefix,
                                              const std::string& group, const Stream& stream) {
  return network_parameters(NetworkLayout(spec, prefix), group, stream);
}

std::vector<ParameterSpec> network_parameters(const NetworkLayout& layout, const std::string& group,
                                              const Stream& stream) {
  std::vector<ParameterSpec> all;
  for (const TensorShape& one : layout.tensors) {
    const Stream layer = layer_stream(stream, std::string_view(one.layer).substr(layout.prefix.size() + 1));
    const std::string own = one.name.substr(one.layer.size() + 1);
    all.push_back({one.name, one.buffer ? kBuffers : group, started(one, layer.split(own)), one.rate});
  }
  return all;
}

at::Tensor dropout_factors(const std::string& layer, double rate, at::IntArrayRef sizes,
                           const at::TensorOptions& options, const Stream& stream) {
  const at::Tensor u = stream.split(layer).uniform(sizes, options.dtype(at::kFloat));
  return (u >= rate).to(c10::typeMetaToScalarType(options.dtype())).div_(1 - rate);
}

std::vector<at::Tensor> dropout_factors(const std::vector<engine::DropoutLayer>& layers, int64_t rows,
                                        const ForwardContext& context) {
  std::vector<at::Tensor> all;
  if (!drops(context)) return all;
  for (const engine::DropoutLayer& layer : layers) {
    const int64_t drawn = context.dropout_draw ? 1 : rows;
    const at::Tensor own =
        dropout_factors(layer.name, layer.rate, {drawn, layer.width}, at::kFloat, context.stream);
    all.push_back(own.expand({rows, layer.width}).contiguous());
  }
  return all;
}

Network::Network(const NetworkSpec& spec, const std::string& prefix)
    : layout_(std::make_shared<const NetworkLayout>(spec, prefix)),
      layers_(made_layers(spec.layers, spec.input, prefix, *layout_)) {}

at::Tensor Network::run(const Input& input, const Binding& binding, const ForwardContext& context,
                        std::vector<Tap>* taps) const {
  const Pass pass{input.mask, binding, context, taps, input.x.size(0)};
  at::Tensor x = input.x;
  for (const Layer& layer : layers_) x = layer(x, pass);
  return x;
}

at::Tensor Network::operator()(const Input& input, const Binding& binding,
                               const ForwardContext& context) const {
  return run(input, binding, context, nullptr);
}

Traced Network::traced(const Input& input, const Binding& binding, const ForwardContext& context) const {
  Traced traced;
  traced.output = run(input, binding, context, &traced.taps);
  return traced;
}

BoundNetwork::BoundNetwork(const NetworkSpec& spec, const std::string& prefix, const Network::Lookup& lookup,
                           Execution execution)
    : network_(spec, prefix),
      binding_(bound(network_.layout(), lookup)),
      engine_(execution == Execution::engine ? EngineNetwork::of(spec, network_.layout(), binding_)
                                             : nullptr) {}

at::Tensor BoundNetwork::operator()(const Input& input, const ForwardContext& context) const {
  if (engine_) {
    const at::Tensor rows = engine_->rows_of(input.x, input.mask, context.training, drops(context));
    if (rows.defined()) return (*engine_)(rows, dropout_factors(engine_->dropouts(), rows.size(0), context));
  }
  return network_(input, binding_, context);
}

}  // namespace slimbayes
