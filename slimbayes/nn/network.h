#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/core/random.h"
#include "slimbayes/nn/linear_map.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// Parameters and buffers of a network, named `prefix.0.weight`, ..., with PyTorch's default start: weights
/// and biases U(-1/sqrt(in), 1/sqrt(in)), norms one and zero; embeddings N(0, 1/out). float64. Buffers are in
/// group kBuffers.
std::vector<ParameterSpec> network_parameters(const NetworkSpec& spec, const std::string& prefix,
                                              const std::string& group, const Stream& stream);

/// Rows as they go into a network.
struct Input {
  at::Tensor x;     // [b, ...], of the spec's input shape
  at::Tensor mask;  // [b, t] bool, the steps of a sequence that are there, from the first on; undefined: all

  Input(at::Tensor rows, at::Tensor steps = {}) : x(std::move(rows)), mask(std::move(steps)) {}
};

/// How the rows go through.
struct ForwardContext {
  bool training = false;  // batch norms use and average the batch's statistics, dropout drops
  Stream stream{0};       // of the dropout
};

/// What goes into and comes out of one layer with weights: what Gram matrices of gradients, OOD scores and
/// spectra need.
struct Tap {
  std::string layer;         // the prefix of its parameters
  at::Tensor input, output;  // [b, ...]
};

struct Traced {
  at::Tensor output;
  std::vector<Tap> taps;  // in the order of the computation
};

/// A spec bound to tensors: a pure function of its input, but for the buffers that training averages.
class Network {
 public:
  using Lookup = std::function<at::Tensor(const std::string& name)>;

  /// Throws std::invalid_argument for a spec whose layers do not fit and for tensors of other shapes.
  Network(const NetworkSpec& spec, const std::string& prefix, const Lookup& lookup);

  at::Tensor operator()(const Input& input, const ForwardContext& context = {}) const;  // [b, out]

  /// The same with its taps.
  Traced traced(const Input& input, const ForwardContext& context = {}) const;

  /// One pass of one layer.
  struct Pass {
    const at::Tensor& mask;
    const ForwardContext& context;
    std::vector<Tap>* taps;  // nullptr: nobody asks
  };
  using Layer = std::function<at::Tensor(const at::Tensor& x, const Pass& pass)>;

 private:
  at::Tensor run(const Input& input, const ForwardContext& context, std::vector<Tap>* taps) const;
  std::vector<Layer> layers_;
};

}  // namespace slimbayes
