#include "slimbayes/ntk/gradient_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <memory>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/nn/layers.h"

namespace slimbayes {

int64_t GradientModel::parameter_count() const {
  int64_t all = 0;
  for (const at::Tensor& one : parameters) all += one.numel();
  return all;
}

at::ScalarType GradientModel::type() const {
  return parameters.empty() ? at::kDouble : parameters.front().scalar_type();
}

at::Device GradientModel::device() const {
  return parameters.empty() ? at::Device(at::kCPU) : parameters.front().device();
}

GradientModel gradient_model(const NetworkSpec& spec, const std::string& prefix,
                             const Network::Lookup& lookup, at::ScalarType type) {
  const bool ends_well = !spec.layers.empty() && std::holds_alternative<Linear>(spec.layers.back());
  if (!ends_well)
    refuse("gradient_model", "a network that ends in the linear layer of its output",
           spec.layers.empty() ? "no layer" : kind_of(spec.layers.back()));
  const Shape out = output(spec);
  if (!out.is_vector()) refuse("gradient_model", "a network whose output is a vector", text_of(out));
  GradientModel model;
  const std::string last = fmt::format("{}.{}.", prefix, spec.layers.size() - 1);
  const auto leaf = [&](const std::string& name) {
    const at::Tensor value = lookup(name).detach().to(type);
    if (is_buffer(name) || name.starts_with(last)) return value;
    model.parameters.push_back(value.set_requires_grad(true));
    return value;
  };
  const auto network = std::make_shared<const BoundNetwork>(spec, prefix, leaf);
  model.output = [network](const Input& input) { return (*network)(input); };
  model.traced = [network](const Input& input) {
    Traced traced = network->traced(input);
    traced.taps.pop_back();  // the output layer
    return traced;
  };
  return model;
}

GradientModel gradient_model(const ScriptNetwork& network) {
  GradientModel model;
  model.parameters = network.parameters();
  model.output = [network](const Input& input) {
    // The output is computed here and not taken from the module. An earlier layer may share the last layer's
    // weight, and the module's output would add the last layer's gradient to that of the earlier layer.
    // network.weight() has no gradient.
    const at::Tensor output = at::linear(network(input.x).hidden, network.weight(), network.bias());
    if (output.requires_grad() || network.parameters().empty()) return output;
    return output + 0 * network.parameters()[0].sum();  // no parameter is used: all gradients are 0
  };
  return model;
}

at::Tensor chosen_outputs(const at::Tensor& outputs, const GradientRows& rows, int64_t from, int64_t to) {
  check_shape(outputs, {to - from, -1}, "ntk", "the network's output");
  if (!rows.output.defined()) return outputs.select(1, 0);
  const at::Tensor chosen = rows.output.slice(0, from, to);
  const int64_t low = chosen.min().item<int64_t>(), high = chosen.max().item<int64_t>();
  if (!(low >= 0 && high < outputs.size(1)))
    refuse("ntk", fmt::format("outputs in [0, {}]", outputs.size(1) - 1),
           fmt::format("{}", low < 0 ? low : high));
  return outputs.gather(1, on_device(chosen, outputs.device()).unsqueeze(1)).squeeze(1);
}

void check_rows(const GradientRows& rows, std::string_view function) {
  if (!(rows.size >= 0 && rows.inputs))
    refuse(function, "rows with a function that returns them",
           fmt::format("{} rows {} it", rows.size, rows.inputs ? "with" : "without"));
  if (!(rows.batch >= 0)) refuse(function, "a batch of at least 0 rows", fmt::format("{}", rows.batch));
  if (!rows.output.defined()) return;
  check_shape(rows.output, {rows.size}, function, "rows.output");
  if (rows.output.scalar_type() != at::kLong)
    refuse(function, "rows.output in int64", at::toString(rows.output.scalar_type()));
}

}  // namespace slimbayes
