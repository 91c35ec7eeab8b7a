#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes::modules {

/// The weight [out, in] and the bias [out] of a linear layer; no bias if undefined.
struct LinearWeights {
  at::Tensor weight, bias;
};

/// Returns random layers of these widths, input first.
inline std::vector<LinearWeights> random_layers(const std::vector<int64_t>& widths, uint64_t seed,
                                                at::ScalarType type = at::kFloat) {
  std::vector<LinearWeights> layers;
  for (size_t i = 1; i < widths.size(); ++i) {
    const Stream stream = Stream(seed).split(i);
    layers.push_back({(0.6 * stream.split("weight").normal({widths[i], widths[i - 1]})).to(type),
                      (0.3 * stream.split("bias").normal({widths[i]})).to(type)});
  }
  return layers;
}

/// Builds modules whose layers are submodules. All share one compilation unit, as saving needs.
class Builder {
 public:
  explicit Builder(const std::string& name = "Net") : net_("__torch__." + name, units_) {}

  /// Adds a linear layer that registers these tensors themselves, so that two layers may share one.
  Builder& layer(const std::string& name, const LinearWeights& weights) {
    torch::jit::Module layer("__torch__.Linear_" + name, units_);
    layer.register_parameter("weight", weights.weight, /*is_buffer=*/false);
    if (weights.bias.defined()) layer.register_parameter("bias", weights.bias, /*is_buffer=*/false);
    layer.define(weights.bias.defined()
                     ? "def forward(self, x):\n  return torch.linear(x, self.weight, self.bias)\n"
                     : "def forward(self, x):\n  return torch.linear(x, self.weight)\n");
    net_.register_module(name, layer);
    return *this;
  }

  Builder& parameter(const std::string& name, const at::Tensor& value) {
    net_.register_parameter(name, value, /*is_buffer=*/false);
    return *this;
  }

  /// Defines the forward with these lines as its body.
  torch::jit::Module forward(const std::vector<std::string>& lines, const std::string& inputs = "x") {
    std::string text = "def forward(self, " + inputs + "):\n";
    for (const std::string& line : lines) text += "  " + line + "\n";
    net_.register_attribute("training", c10::BoolType::get(), true);
    net_.define(text);
    return net_;
  }

 private:
  std::shared_ptr<torch::jit::CompilationUnit> units_ = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module net_;
};

/// Returns a network with tanh after every layer but the last, which is called "head"; the others are "l0",
/// "l1", ... `end` is the last line.
inline torch::jit::Module mlp(const std::vector<LinearWeights>& layers, const std::string& end = "return y") {
  Builder builder;
  std::vector<std::string> lines;
  for (size_t i = 0; i + 1 < layers.size(); ++i) {
    const std::string name = "l" + std::to_string(i);
    builder.layer(name, layers[i]);
    lines.push_back("x = torch.tanh(self." + name + ".forward(x))");
  }
  builder.layer("head", layers.back());
  lines.insert(lines.end(), {"y = self.head.forward(x)", end});
  return builder.forward(lines);
}

/// Returns the input of the last layer of mlp(layers). [b, w]
inline at::Tensor hidden_of(const std::vector<LinearWeights>& layers, at::Tensor x) {
  for (size_t i = 0; i + 1 < layers.size(); ++i)
    x = at::tanh(at::linear(x, layers[i].weight, layers[i].bias));
  return x;
}

}  // namespace slimbayes::modules
