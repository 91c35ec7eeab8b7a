#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

namespace torch::jit {
struct Graph;
struct Module;
}  // namespace torch::jit

namespace slimbayes {

/// The program of a TorchScript module, without calls and branches on the module's own options.
struct ScriptGraph {
  /// Inputs: the module, the rows, further inputs of forward. Outputs: the module's output, the inputs of its
  /// last layer, the outputs of that layer.
  std::shared_ptr<torch::jit::Graph> graph;
  at::Tensor bias;  // of the last layer, a tensor of the module; undefined without one
  /// Whether the graph also reads the last layer's weight or bias elsewhere.
  bool weight_is_shared = false, bias_is_shared = false;
};

/// Takes the graph of a module in evaluation mode whose output is that of the linear layer `last_layer` with
/// this weight; squeezes and reshapes may follow. Throws std::invalid_argument for another module (see
/// ScriptNetwork).
ScriptGraph script_graph(const torch::jit::Module& module, const std::string& last_layer,
                         const at::Tensor& weight);

}  // namespace slimbayes
