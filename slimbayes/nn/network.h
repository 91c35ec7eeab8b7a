#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/core/random.h"
#include "slimbayes/nn/binding.h"
#include "slimbayes/nn/engine_network.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// Returns the parameters and buffers of a network with their initial values, in float64, named
/// `prefix.0.weight`, ... Weights and biases start at U(-1/sqrt(n), 1/sqrt(n)), as in PyTorch, where n is the
/// fan-in (for an LSTM the size of its hidden state); if Scales::start is set, they start at N(0, start^2).
/// Norms start at scale 1 and shift 0, embeddings at N(0, 1/out). Parameters are in the group `group`,
/// buffers in kBuffers.
std::vector<ParameterSpec> network_parameters(const NetworkSpec& spec, const std::string& prefix,
                                              const std::string& group, const Stream& stream);
std::vector<ParameterSpec> network_parameters(const NetworkLayout& layout, const std::string& group,
                                              const Stream& stream);

/// A batch of rows that goes into a network.
struct Input {
  at::Tensor x;  // [b, ...], where ... is the spec's input shape
  /// [b, t] bool for sequences of different lengths: true for real steps, which come first, false for the
  /// padding after them. Undefined: there is no padding.
  at::Tensor mask;

  Input(at::Tensor rows, at::Tensor steps = {}) : x(std::move(rows)), mask(std::move(steps)) {}
};

/// The mode of one forward pass.
struct ForwardContext {
  bool training = false;  // true: dropout is active; batch norms use and average a batch's statistics
  Stream stream{0};       // random numbers of the dropout layers
  /// true: dropout is also active outside training, with one mask for all rows (Monte Carlo dropout). One
  /// mask is one draw of the network, so the answer to a row does not depend on the other rows of its batch.
  bool dropout_draw = false;
  /// Returns a tensor summed over the processes that share the rows of a training batch, with its gradient,
  /// so that batch norms use the statistics of all rows. Empty: this process has all of them.
  std::function<at::Tensor(const at::Tensor& x)> total = {};
};

/// Returns whether a pass of a network with dropout layers needs their draws.
inline bool drops(const ForwardContext& context) { return context.training || context.dropout_draw; }

/// Returns the factors of a dropout layer, 0 with the probability `rate`, else 1 / (1 - rate): those that the
/// stream has for the layer's name. `options` say their type and device.
at::Tensor dropout_factors(const std::string& layer, double rate, at::IntArrayRef sizes,
                           const at::TensorOptions& options, const Stream& stream);

/// Returns the factors of each dropout layer of a plan for a pass of `rows` rows: float32 [rows, width], the
/// same as in libtorch's pass; nothing if the context has no dropout.
std::vector<at::Tensor> dropout_factors(const std::vector<engine::DropoutLayer>& layers, int64_t rows,
                                        const ForwardContext& context);

/// The record of one layer with parameters in a forward pass: its input, output and parameters.
/// Network::traced returns these records. Use them to compute Gram matrices of gradients, OOD scores or
/// spectra. Every parameter of a network belongs to exactly one tap. An attention layer has two taps of the
/// kind "linear", named "LAYER.in" and "LAYER.out"; an lstm has one tap for all of its steps.
struct Tap {
  std::string layer;         // the layer's name
  std::string kind;          // "linear", "conv2d", "layer_norm", "batch_norm", "embedding" or "lstm"
  at::Tensor input, output;  // [b, ...]; `output` includes the multipliers

  // What the gradient of the parameters needs besides input and output:
  std::vector<at::Tensor> parameters = {};      // as the binding holds them: weight, then bias if any
  double weight_scale = 1, bias_scale = 1;      // multipliers of a "linear" or "conv2d"
  int64_t kernel = 1, stride = 1, padding = 0;  // of a "conv2d"
  std::vector<at::Tensor> statistics = {};      // of a "batch_norm": running mean and variance, each [c]
};

/// The output of a network and the taps of the pass that computed it.
struct Traced {
  at::Tensor output;
  std::vector<Tap> taps;  // in the order in which the layers run
};

/// The computation of a network spec. It holds no tensors: each pass takes its values from a binding, so one
/// network serves all draws of its weights. The result depends only on the input, the binding and the
/// context. The only side effect: a training pass updates the running averages of batch norms in the binding.
class Network {
 public:
  using Lookup = Binding::Lookup;

  /// Throws std::invalid_argument if the spec's layers do not fit each other. The tensors are named
  /// `prefix`.0.weight and so on.
  Network(const NetworkSpec& spec, const std::string& prefix);

  const NetworkLayout& layout() const { return *layout_; }

  /// Returns the outputs [b, out]; [S b, out] for a binding of S draws (stacked() in binding.h): those of the
  /// first draw, then those of the second, and so on.
  at::Tensor operator()(const Input& input, const Binding& binding, const ForwardContext& context = {}) const;

  /// Returns the output as operator() does, and a tap for every layer with parameters.
  Traced traced(const Input& input, const Binding& binding, const ForwardContext& context = {}) const;

  /// What a forward pass hands to every layer besides the layer's input.
  struct Pass {
    const at::Tensor& mask;
    const Binding& binding;
    const ForwardContext& context;
    std::vector<Tap>* taps;  // nullptr: nothing is recorded
    int64_t rows;            // b, of the batch that goes into the network
  };
  using Layer = std::function<at::Tensor(const at::Tensor& x, const Pass& pass)>;

 private:
  at::Tensor run(const Input& input, const Binding& binding, const ForwardContext& context,
                 std::vector<Tap>* taps) const;
  std::shared_ptr<const NetworkLayout> layout_;
  std::vector<Layer> layers_;
};

/// A network together with one fixed set of weights. Its passes run through the engine where that can compute
/// them (nn/engine_network.h), else through libtorch.
class BoundNetwork {
 public:
  /// Throws std::invalid_argument if the spec's layers do not fit each other or a tensor has a wrong shape.
  BoundNetwork(const NetworkSpec& spec, const std::string& prefix, const Network::Lookup& lookup,
               Execution execution = Execution::engine);

  /// Returns whether the engine computes its training passes.
  bool by_engine() const { return engine_ != nullptr && engine_->trains(); }

  at::Tensor operator()(const Input& input, const ForwardContext& context = {}) const;
  Traced traced(const Input& input, const ForwardContext& context = {}) const {
    return network_.traced(input, binding_, context);
  }

 private:
  Network network_;
  Binding binding_;
  std::shared_ptr<const EngineNetwork> engine_;  // nullptr: the engine cannot compute the network
};

}  // namespace slimbayes
