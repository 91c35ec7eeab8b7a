#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/catalog/network_spec.h"
#include "slimbayes/core/random.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// The parameters of a network, named `prefix.0.weight`, ..., with PyTorch's default start: linear weights
/// and biases U(-1/sqrt(in), 1/sqrt(in)), layer norms one and zero.
std::vector<ParameterSpec> network_parameters(const NetworkSpec& spec, const std::string& prefix,
                                              const std::string& group, const Stream& stream);

/// A spec bound to tensors: a pure function of its input.
class Network {
 public:
  using Lookup = std::function<at::Tensor(const std::string& name)>;

  Network(const NetworkSpec& spec, const std::string& prefix, const Lookup& lookup);

  at::Tensor operator()(at::Tensor x) const;  // [b, in] -> [b, out]

 private:
  struct Layer {
    enum class Kind { linear, layer_norm, silu, tanh, relu, residual } kind;
    at::Tensor weight, bias;
    std::vector<Layer> body;
  };
  static std::vector<Layer> bind(const NetworkSpec& spec, const std::string& prefix, const Lookup& lookup);
  static at::Tensor run(const std::vector<Layer>& layers, at::Tensor x);
  std::vector<Layer> layers_;
};

}  // namespace slimbayes
