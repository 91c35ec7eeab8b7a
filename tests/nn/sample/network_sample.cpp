// network_sample SPEC OUT [training]  Runs a network with random weights on random rows in float64. Writes
// its output and the gradients of sum(output * seed) with respect to rows and parameters to OUT. A Python
// test compares them with PyTorch's own modules.
#include <ATen/ATen.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/core/stored.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/storage/tensor_file.h"

namespace {

using namespace slimbayes;

constexpr int64_t kRows = 3;

/// Returns rows of the spec's shape. A sequence of variable length gets 7 steps; the mask leaves 7, 4 and 1
/// steps of the three rows.
Input rows_for(const Shape& shape, const Stream& stream) {
  std::vector<int64_t> sizes = {kRows};
  for (int64_t size : shape.sizes) sizes.push_back(size < 0 ? 7 : size);
  at::Tensor x = stream.normal(sizes), mask;
  if (shape.tokens) x = (5 * stream.uniform(sizes)).to(at::kLong);
  const bool varies = shape.tokens || (shape.is_sequence() && shape.sizes[0] < 0);
  if (varies) {
    const at::Tensor length = at::tensor(std::vector<int64_t>{sizes[1], 4, 1}).unsqueeze(1);
    mask = at::arange(sizes[1], at::kLong).unsqueeze(0) < length;
  }
  return {x, mask};
}

void run(const std::string& text, const std::string& out, bool training) {
  const NetworkSpec spec = network_from_json(nlohmann::json::parse(text));
  std::vector<ParameterSpec> specs = network_parameters(spec, "n", "network", Stream(1));
  for (ParameterSpec& each : specs) {  // weights of 1 and biases of 0 would hide errors
    if (each.start.dim() == 1)
      each.start = each.start + 0.3 * Stream(2).split(each.name).uniform(each.start.sizes());
  }
  const Parameters parameters(specs, at::kDouble);
  const BoundNetwork network(spec, "n", [&](const std::string& name) { return parameters[name]; });
  Input input = rows_for(spec.input, Stream(3));
  if (!spec.input.tokens) input.x.set_requires_grad(true);
  TensorFile file;
  for (const std::string& name : parameters.names())
    file.tensors["before." + name] = to_stored(parameters[name].detach().clone());
  const Traced traced = network.traced(input, {training, Stream(4)});
  const at::Tensor seed = Stream(5).normal(traced.output.sizes());
  (traced.output * seed).sum().backward();
  file.tensors["x"] = to_stored(input.x.detach());
  if (input.mask.defined()) file.tensors["mask"] = to_stored(input.mask.to(at::kLong));
  file.tensors["output"] = to_stored(traced.output.detach());
  file.tensors["seed"] = to_stored(seed);
  if (!spec.input.tokens) file.tensors["grad.x"] = to_stored(input.x.grad());
  for (const std::string& name : parameters.names()) {
    if (parameters[name].requires_grad()) file.tensors["grad." + name] = to_stored(parameters[name].grad());
    file.tensors["after." + name] = to_stored(parameters[name].detach());
  }
  nlohmann::json taps = nlohmann::json::array();
  for (const Tap& tap : traced.taps)
    taps.push_back({tap.layer, tap.input.sizes().vec(), tap.output.sizes().vec()});
  file.metadata["taps"] = taps.dump();
  write_tensor_file(out, file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: network_sample SPEC OUT [training]\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argc > 3);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
