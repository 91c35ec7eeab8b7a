#include "slimbayes/families/last_layer_features.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

const Linear& output_layer(const NetworkSpec& spec, std::string_view method) {
  const Linear* last = spec.layers.empty() ? nullptr : std::get_if<Linear>(&spec.layers.back());
  check(last != nullptr, method, "a network whose last layer is linear",
        spec.layers.empty() ? "one without layers" : "one that ends in " + kind_of(spec.layers.back()),
        "add a linear output layer");
  return *last;
}

NetworkSpec without_output(const NetworkSpec& spec, std::string_view method) {
  output_layer(spec, method);
  NetworkSpec body = spec;
  body.layers.pop_back();
  check(output(body).is_vector(), method, "a vector before the output layer", text_of(output(body)));
  return body;
}

}  // namespace

LastLayerFeatures::LastLayerFeatures(const NetworkSpec& spec, const Network::Lookup& lookup,
                                     std::string_view method)
    : body_(without_output(spec, method), "network", lookup) {
  const Linear& last = output_layer(spec, method);
  const int64_t width = output(without_output(spec, method)).width();
  const std::string name = fmt::format("network.{}", spec.layers.size() - 1);
  weight_ = lookup(name + ".weight");
  check_shape(weight_, {last.out, width}, method, name + ".weight");
  if (last.bias) {
    bias_ = lookup(name + ".bias");
    check_shape(bias_, {last.out}, method, name + ".bias");
  }
  weight_scale_ = last.scales.weight;
  bias_scale_ = last.scales.bias;
  rank_ = width + (last.bias ? 1 : 0);
  outputs_ = last.out;
}

LastLayerRows LastLayerFeatures::operator()(const Input& input) const {
  const at::Tensor h = weight_scale_ == 1 ? body_(input) : weight_scale_ * body_(input);
  if (!bias_.defined()) return {h, at::linear(h, weight_)};
  return {at::cat({h, at::full({h.size(0), 1}, bias_scale_, h.options())}, 1),
          at::linear(h, weight_, bias_scale_ == 1 ? bias_ : bias_scale_ * bias_)};
}

}  // namespace slimbayes
