#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>
#include <vector>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/network/parametrisation.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// A network with random weights and rows for it. Weights of norms are not 1 and biases not 0, since such
/// values would hide errors.
struct SmallNetwork {
  std::string name;
  NetworkSpec spec;
  std::vector<int64_t> lengths = {};  // steps of the rows of a network on texts; the others are padding
  int64_t tokens = 0;

  Weights weights() const {
    Weights all;
    for (const ParameterSpec& one : network_parameters(spec, "net", "all", Stream(1))) {
      const at::Tensor noise = Stream(2).split(one.name).uniform(one.start.sizes());
      all[one.name] = one.start.dim() == 1 ? one.start + 0.3 * noise : one.start;
    }
    return all;
  }

  /// Returns n rows. Each batch of texts is padded to its own longest text.
  GradientRows rows(int64_t n, at::ScalarType type = at::kDouble, uint64_t seed = 3) const {
    std::vector<int64_t> sizes = {n};
    for (int64_t size : spec.input.sizes) sizes.push_back(size);
    const at::Tensor numbers = Stream(seed).normal(sizes, type);
    const bool texts = spec.input.tokens;
    const at::Tensor words = (static_cast<double>(tokens) * Stream(seed).uniform(sizes)).to(at::kLong);
    return {.size = n, .inputs = [=, lengths = lengths](int64_t from, int64_t to) -> Input {
              if (!texts) return {numbers.slice(0, from, to)};
              std::vector<int64_t> steps;
              for (int64_t i = from; i < to; ++i)
                steps.push_back(lengths[static_cast<size_t>(i) % lengths.size()]);
              const at::Tensor length = at::tensor(steps, at::kLong).unsqueeze(1);
              const int64_t longest = length.max().item<int64_t>();
              return {words.slice(0, from, to).narrow(1, 0, longest),
                      at::arange(longest, at::kLong).unsqueeze(0) < length};
            }};
  }
};

inline NetworkSpec ends_in(NetworkSpec spec, int64_t outputs) {
  spec.layers.push_back(Linear{outputs});
  return spec;
}

/// Networks with every layer that the gram route knows, in each of its forms.
inline std::vector<SmallNetwork> known_networks() {
  const auto named = [](const char* name, Shape shape, int64_t hidden, int64_t tokens = 0) {
    return ends_in(network_for({.network = name, .hidden = hidden, .blocks = 1, .heads = 2}, shape, tokens),
                   3);
  };
  const NetworkSpec plain = ends_in(mlp(4, 9, 3, "tanh"), 3);
  const NetworkSpec convolutions{
      {{2, 6, 5}},
      {Conv2d{3, 3, 2, 1}, Activation{"tanh"}, Conv2d{32, 3, 2, 1}, Activation{"tanh"}, Conv2d{24, 3, 1, 1},
       Flatten{}, Linear{5}, Activation{"tanh"}, Linear{3}}};
  return {{"mlp", plain},
          {"mup", parametrised(plain, "mup", 5)},
          {"ntk", parametrised(plain, "ntk", 5)},
          {"without bias", {{{4}}, {Linear{9, false}, Activation{"tanh"}, Linear{3}}}},
          {"tabular_resnet", named("tabular_resnet", {{4}}, 8)},
          {"mup convolutions", parametrised(convolutions, "mup", 5)},
          {"convnet", named("convnet", {{2, 8, 8}}, 6)},
          {"resnet18", named("resnet18", {{3, 8, 8}}, 4)},
          {"short windows", named("transformer", {{2, 3}}, 16)},
          {"windows", named("transformer", {{7, 3}}, 8)},
          {"texts", named("transformer", {{6}, true}, 8, 7), {6, 2, 4, 1}, 7},
          {"short texts of many words", named("transformer", {{4}, true}, 8, 60), {4, 1, 3}, 60}};
}

/// An lstm, which the gram route does not know.
inline SmallNetwork lstm_network() {
  return {"lstm", ends_in(network_for({.network = "lstm", .hidden = 6, .blocks = 1}, {{5, 3}}), 3)};
}

inline GradientModel model_of(const SmallNetwork& network, at::ScalarType type = at::kDouble) {
  const Weights weights = network.weights();
  return gradient_model(network.spec, "net", as_type(weights, type), type);
}

/// The gradient of each row's chosen output, one backward pass a row. [n, p] float64
inline at::Tensor dense_gradients(const GradientModel& model, const GradientRows& rows) {
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < rows.size; ++i) {
    const at::Tensor y = model.output(rows.inputs(i, i + 1));
    const int64_t k = rows.output.defined() ? rows.output[i].item<int64_t>() : 0;
    std::vector<at::Tensor> flat;
    for (const at::Tensor& g : torch::autograd::grad({y.select(1, k).sum()}, model.parameters))
      flat.push_back(g.reshape({-1}));
    all.push_back(at::cat(flat).to(at::kDouble));
  }
  return at::stack(all);
}

/// Returns max |a - b| / max |b|.
inline double relative_error(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

}  // namespace slimbayes
