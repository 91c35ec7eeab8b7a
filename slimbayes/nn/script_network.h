#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace torch::jit {
struct Module;  // torch/script.h, which takes seconds to compile
}

namespace slimbayes {

/// What the last layer of a module sees and gives.
struct ScriptRows {
  at::Tensor hidden;  // [b, w] the inputs of the last layer
  at::Tensor output;  // [b, k] its outputs, before any squeeze(-1)
};

/// A network that was made elsewhere: a TorchScript module (torch.jit.script or torch.jit.trace) whose output
/// is that of a linear layer, which the user names. Its layers are not known; it can be evaluated and
/// differentiated. An immutable value that shares its parameters with its copies; safe to share between
/// threads if the module does not change its own attributes.
///
/// The module is always in evaluation mode, on the CPU, in the type of its parameters (float32 or float64).
/// Loading a module and evaluating it runs the program that its archive holds: load only files that you
/// trust.
///
/// The functions that make one throw DataError for an archive that cannot be read, and std::invalid_argument
/// for a frozen module, a layer that is absent or not linear, a module that does anything but squeeze or
/// reshape after this layer, a forward with other inputs than one tensor (defaults are kept), parameters of
/// another type, and dropout or batch norm that a trace fixed in training mode.
class ScriptNetwork {
 public:
  /// Reads a file of torch.jit.save. `last_layer` is the layer's path in the module, such as "fc" or
  /// "head.2".
  static ScriptNetwork read(const std::filesystem::path& path, const std::string& last_layer);
  /// Reads the bytes of such a file; `name` stands for it in messages.
  static ScriptNetwork from_bytes(std::vector<std::byte> archive, const std::string& last_layer,
                                  const std::string& name = "the module");
  /// Copies a module of this process.
  static ScriptNetwork of(const torch::jit::Module& module, const std::string& last_layer);

  /// Evaluates the module at rows x [b, ...]. With gradients enabled the results have a graph to
  /// parameters(). Throws std::invalid_argument for rows that the module does not take.
  ScriptRows operator()(const at::Tensor& x) const;

  /// Throws std::invalid_argument if, at these rows, the last layer's weights and inputs do not give the
  /// module's output, or a row's output depends on the other rows or on chance. Returns sentences on
  /// parameters that no gradient reaches and on those that were frozen in training; they count like all
  /// others.
  std::vector<std::string> verified(const at::Tensor& x) const;

  const at::Tensor& weight() const;  // [k, w] of the last layer, without gradients
  const at::Tensor& bias() const;    // [k], without gradients; undefined if the layer has none
  /// All parameters but those of the last layer, each once: leaves that require gradients. A weight that the
  /// last layer shares with an earlier one is among them.
  const std::vector<at::Tensor>& parameters() const;
  at::ScalarType type() const;                    // float32 or float64
  const std::string& last_layer() const;          // its path
  const std::vector<std::byte>& archive() const;  // what from_bytes reads

 private:
  struct State;
  explicit ScriptNetwork(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace slimbayes
