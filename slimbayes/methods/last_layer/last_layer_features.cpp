#include "slimbayes/methods/last_layer/last_layer_features.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"

namespace slimbayes {

namespace {

const Linear& output_layer(const NetworkSpec& spec, std::string_view method) {
  const Linear* last = spec.layers.empty() ? nullptr : std::get_if<Linear>(&spec.layers.back());
  if (last == nullptr)
    refuse(method, "a network whose last layer is linear",
           spec.layers.empty() ? "one without layers" : "one that ends in " + kind_of(spec.layers.back()),
           "add a linear output layer");
  return *last;
}

NetworkSpec without_output(const NetworkSpec& spec, std::string_view method) {
  output_layer(spec, method);
  NetworkSpec body = spec;
  body.layers.pop_back();
  if (!output(body).is_vector()) refuse(method, "a vector before the output layer", text_of(output(body)));
  return body;
}

}  // namespace

LastLayerFeatures::LastLayerFeatures(const NetworkSpec& spec, const Network::Lookup& lookup,
                                     std::string_view method) {
  const BoundNetwork body(without_output(spec, method), "network", lookup);  // all layers but the last
  const Linear& last = output_layer(spec, method);
  const int64_t width = output(without_output(spec, method)).width();
  const std::string name = fmt::format("network.{}", spec.layers.size() - 1);
  const at::Tensor weight = lookup(name + ".weight");  // [k, h]
  check_shape(weight, {last.out, width}, method, name + ".weight");
  at::Tensor bias;  // [k]
  if (last.bias) {
    bias = lookup(name + ".bias");
    check_shape(bias, {last.out}, method, name + ".bias");
  }
  rank_ = width + (last.bias ? 1 : 0);
  outputs_ = last.out;
  type_ = weight.scalar_type();
  // The layer as a network of its own computes as it does within the whole network: the outputs have the same
  // bits.
  const BoundNetwork output({{{width}}, {last}}, "last", [&](const std::string& tensor) {
    return tensor == "last.0.weight" ? weight : bias;
  });
  rows_ = [body, output, s = last.scales.weight, t = last.scales.bias,
           has_bias = last.bias](const Input& input) {
    const at::Tensor g = body(input), h = s == 1 ? g : s * g;
    if (!has_bias) return LastLayerRows{h, output(g)};
    return LastLayerRows{at::cat({h, at::full({h.size(0), 1}, t, h.options())}, 1), output(g)};
  };
}

LastLayerFeatures::LastLayerFeatures(const ScriptNetwork& module)
    : rank_(module.weight().size(1) + (module.bias().defined() ? 1 : 0)),
      outputs_(module.weight().size(0)),
      type_(module.type()) {
  rows_ = [module, rank = rank_, k = outputs_](const Input& input) {
    check(!input.mask.defined(), "module", "rows without padding, which a module cannot be told of",
          "rows with a mask", "give the rows equal lengths");
    if (input.x.size(0) == 0)
      return LastLayerRows{at::zeros({0, rank}), at::zeros({0, k})};  // some modules reject empty batches
    auto [h, output] = module(input.x);
    if (module.bias().defined()) h = at::cat({h, at::ones({h.size(0), 1}, h.options())}, 1);
    return LastLayerRows{h, output};
  };
}

std::optional<engine::FeatureSpec> last_layer_spec(const TrainedNetwork& network, at::ScalarType type,
                                                   int64_t sketch) {
  constexpr int64_t kMostSketch =
      4096;  // with more features the root of their covariance takes hundreds of MB
  if (network.module || (sketch > 0 && type != at::kFloat) || sketch > kMostSketch) return {};
  return feature_spec(network.spec, "", sketch, as_type(network.weights, type), type,
                      sketch > 0 ? engine::FeaturesOf::sketch : engine::FeaturesOf::last_layer);
}

int64_t last_layer_rank(const NetworkSpec& spec, std::string_view method) {
  return output(without_output(spec, method)).width() + (output_layer(spec, method).bias ? 1 : 0);
}

at::Tensor output_weights(const TrainedNetwork& network) {
  at::Tensor weight, bias;
  if (network.module) {
    weight = network.module->weight(), bias = network.module->bias();
  } else {
    const std::string name = fmt::format("network.{}.", network.spec.layers.size() - 1);
    weight = network.weights.at(name + "weight");
    if (const auto found = network.weights.find(name + "bias"); found != network.weights.end())
      bias = found->second;
  }
  return (bias.defined() ? at::cat({weight, bias.unsqueeze(1)}, 1) : weight).to(at::kDouble);
}

namespace {

/// The features in `type`, where the network has a choice of types.
LastLayerFeatures features_in(const TrainedNetwork& network, at::ScalarType type, std::string_view method,
                              int64_t sketch, at::Device device) {
  const LastLayerFeatures last =
      network.module
          ? LastLayerFeatures(*network.module)
          : LastLayerFeatures(network.spec, as_type(network.weights, at::dtype(type).device(device)), method);
  if (sketch == 0) return last;
  return last.with_sketch(
      GradientSketch(last_layer_gradients(network, type, device), sketch, Stream(0).split("sketch")));
}

}  // namespace

LastLayerFeatures LastLayerFeatures::with_sketch(const GradientSketch& sketch) const {
  LastLayerFeatures out;
  out.rank_ = rank_ + sketch.size();
  out.outputs_ = outputs_;
  out.type_ = type_;
  out.sketched_ = true;
  out.rows_ = [last = rows_, sketch](const Input& input) {
    LastLayerRows rows = last(input);
    GradientRows gradients{rows.output.size(0), [&](int64_t from, int64_t to) {
                             const at::Tensor& steps = input.mask;
                             return Input(input.x.slice(0, from, to),
                                          steps.defined() ? steps.slice(0, from, to) : steps);
                           }};
    if (rows.output.size(1) > 1) gradients.output = rows.output.argmax(1);
    rows.features = at::cat({rows.features, sketch(gradients)}, 1);
    return rows;
  };
  return out;
}

LastLayerRows on_cpu(const LastLayerRows& rows) { return {on_cpu(rows.features), on_cpu(rows.output)}; }

at::Device device_for(const TrainedNetwork& network, at::Device wanted) {
  return network.module ? at::Device(at::kCPU) : wanted;
}

at::Device device_for(const FitContext& context) {
  return context.start ? device_for(*context.start, context.device) : context.device;
}

LastLayerFeatures last_layer_features(const TrainedNetwork& network, std::string_view method, int64_t sketch,
                                      at::Device device) {
  return features_in(network, at::kFloat, method, sketch, device);
}

LastLayerFeatures statistics_features(const TrainedNetwork& network, std::string_view method, int64_t sketch,
                                      at::Device device) {
  const bool given = network.module || takes_images(network);
  return features_in(network, given ? at::kFloat : at::kDouble, method, sketch, device);
}

LastLayerFeatures answer_features(const TrainedNetwork& network, bool precise, std::string_view method,
                                  int64_t sketch, at::Device device) {
  return precise ? statistics_features(network, method, sketch, device)
                 : last_layer_features(network, method, sketch, device);
}

GradientModel last_layer_gradients(const TrainedNetwork& network, at::ScalarType type, at::Device device) {
  if (network.module) return gradient_model(*network.module);
  return gradient_model(network.spec, "network", as_type(network.weights, at::dtype(type).device(device)),
                        type);
}

bool takes_images(const TrainedNetwork& network) { return network.spec.input.sizes.size() == 3; }

}  // namespace slimbayes
