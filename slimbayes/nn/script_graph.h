#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

namespace torch::jit {
struct Graph;
struct Module;
}  // namespace torch::jit

namespace slimbayes {

/// The graph (program) of a TorchScript module in evaluation mode, with all calls inlined and the branches on
/// the module's own options decided, together with the bias of its last layer.
struct ScriptGraph {
  /// Inputs: the module, the rows, further inputs of forward. Outputs: the module's output, then the inputs
  /// and the outputs of its last layer.
  std::shared_ptr<torch::jit::Graph> graph;
  at::Tensor bias;  // bias of the last layer, owned by the module; undefined if there is none
  /// Whether the graph also reads the last layer's weight or bias outside that layer.
  bool weight_is_shared = false, bias_is_shared = false;
};

/// Returns the graph of a module in evaluation mode. The linear layer `last_layer` with this weight must
/// compute the module's output; only squeezes and reshapes may follow it. Throws std::invalid_argument for
/// any other module (see ScriptNetwork).
ScriptGraph script_graph(const torch::jit::Module& module, const std::string& last_layer,
                         const at::Tensor& weight);

}  // namespace slimbayes
