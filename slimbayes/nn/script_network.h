#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/export.h"

namespace torch::jit {
struct Module;  // torch/script.h, which takes seconds to compile
}

namespace slimbayes {

/// The inputs and outputs of a module's last layer.
struct ScriptRows {
  at::Tensor hidden;  // [b, w] inputs of the last layer
  at::Tensor output;  // [b, k] outputs of the last layer, before any squeeze(-1)
};

/// A module that the program around the library calls, such as a torch.nn.Module of Python: its layers run
/// there, and gradients go through the graph that they build.
struct HostModule {
  std::string last_layer;              // the path of the linear layer that computes the output
  at::Tensor weight, bias;             // of this layer, without gradients; bias undefined: none
  std::vector<std::string> names;      // of the parameters
  std::vector<at::Tensor> parameters;  // those that count, as leaves that require gradients, each once
  std::vector<std::string> untrained;  // names of parameters that were frozen in training
  /// Evaluates the module in evaluation mode at rows x [b, ...]: returns its output, then the inputs and the
  /// outputs of its last layer, with an autograd graph to `parameters` if gradients are enabled. Called by
  /// any thread. Throws std::invalid_argument for rows that it does not take.
  std::function<std::vector<at::Tensor>(const at::Tensor& x)> run;
  std::vector<std::byte> fingerprint;  // by which a file knows its module
};

/// A network that was made elsewhere: a TorchScript module (torch.jit.script or torch.jit.trace), or a module
/// of the program around the library. The user names the linear layer that computes its output. The other
/// layers are not known, but the module can be evaluated and differentiated. An immutable value; copies share
/// its parameters. Threads may share it if the module does not change its own attributes.
///
/// The module always runs in evaluation mode, on the CPU, in the type of its parameters (float32 or float64).
/// Loading and evaluating a module runs the program in its archive: load only files that you trust.
///
/// The factory functions throw DataError for an archive that cannot be read, and std::invalid_argument for: a
/// frozen module; a last layer that is absent or not linear; any operation but squeeze or reshape after this
/// layer; a forward with inputs other than one tensor (inputs with defaults are allowed); parameters of
/// another type; and dropout or batch norm traced in training mode.
class SLIMBAYES_EXPORT ScriptNetwork {
 public:
  /// Reads a file of torch.jit.save. `last_layer` is the layer's path in the module, such as "fc" or
  /// "head.2".
  static ScriptNetwork read(const std::filesystem::path& path, const std::string& last_layer);
  /// Reads the bytes of such a file. Error messages call it `name`.
  static ScriptNetwork from_bytes(std::vector<std::byte> archive, const std::string& last_layer,
                                  const std::string& name = "the module");
  /// Makes a network from a copy of a module that this process holds in memory.
  static ScriptNetwork of(const torch::jit::Module& module, const std::string& last_layer);
  /// Makes a network that calls a module of the program around the library. Throws std::invalid_argument for
  /// parameters that are not all float32 or all float64.
  static ScriptNetwork of(HostModule module);

  /// Evaluates the module at rows x [b, ...]. With gradients enabled the results have a graph to
  /// parameters(). Throws std::invalid_argument for rows that the module does not take.
  ScriptRows operator()(const at::Tensor& x) const;

  /// Checks the module on these rows. Throws std::invalid_argument if the last layer's weights and inputs do
  /// not reproduce the module's output, or if the output of a row depends on other rows or on chance. Returns
  /// sentences about parameters that receive no gradient or were frozen in training; such parameters are
  /// treated like all others.
  std::vector<std::string> verified(const at::Tensor& x) const;

  const at::Tensor& weight() const;  // [k, w] of the last layer, without gradients
  const at::Tensor& bias() const;    // [k], without gradients; undefined if the layer has none
  /// All parameters except the last layer's, each once, as leaves that require gradients. A weight that the
  /// last layer shares with an earlier layer is included.
  const std::vector<at::Tensor>& parameters() const;
  at::ScalarType type() const;            // float32 or float64
  const std::string& last_layer() const;  // the last layer's path
  bool hosted() const;                    // whether it was made of a HostModule
  const std::vector<std::byte>& archive()
      const;  // the module's file, for from_bytes; if hosted, its fingerprint

 private:
  struct SLIMBAYES_NO_EXPORT State;
  explicit ScriptNetwork(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace slimbayes
