#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/script_network.h"

namespace slimbayes {

/// A network to differentiate: its outputs as a function of all of its parameters except those of its last
/// linear layer. The gradient of one output at an input x is called phi_m(x). It has p numbers and is never
/// held for all rows at once.
struct GradientModel {
  /// Returns the outputs with an autograd graph to `parameters`, in evaluation mode. The output of a row must
  /// not depend on the other rows of its batch. [b, k]
  std::function<at::Tensor(const Input&)> output;
  std::vector<at::Tensor> parameters;  // leaves that require gradients, of one type
  /// Returns the outputs and the taps (Tap: the recorded input, output and parameters of a layer) of all
  /// layers before the last, with an autograd graph. Empty for a TorchScript module, whose layers are not
  /// known.
  std::function<Traced(const Input&)> traced;

  int64_t parameter_count() const;  // p
  at::ScalarType type() const;      // of the parameters; float64 if there are none
  at::Device device() const;        // of the parameters; the CPU if there are none
  /// Returns the options of a float64 tensor on device().
  at::TensorOptions doubles() const { return at::dtype(at::kDouble).device(device()); }
};

/// Makes the model of a network whose last layer is the Linear that computes its output. The model computes
/// in `type`, on the device of the weights. The weights have no autograd graph to those of `lookup`;
/// weights that `lookup` returns in `type` are shared, others are copied. Throws std::invalid_argument if
/// the last layer is not a Linear or the output is not a vector.
GradientModel gradient_model(const NetworkSpec& spec, const std::string& prefix,
                             const Network::Lookup& lookup, at::ScalarType type);

/// Makes the model of a TorchScript module. `traced` is empty, because its layers are not known. The model
/// computes in the module's type, and its parameters are the module's own tensors.
GradientModel gradient_model(const ScriptNetwork& network);

/// The rows at which the gradients of a model are computed.
struct GradientRows {
  int64_t size;  // n
  /// Returns rows [from, to) in the model's type and on its device.
  std::function<Input(int64_t from, int64_t to)> inputs;
  at::Tensor output = {};  // [n] int64, the output that each row differentiates; undefined: output 0
  int64_t batch = 0;       // rows of one forward pass; 0: as many as fit into about 64 MB
  /// The index of a row with the most positions, such as the longest text. Memory and time are planned for
  /// this row.
  int64_t longest = 0;
};

/// The part of the rows that this process sums over, where several processes make one fit together and all
/// of them call the same functions. By default one process has all rows.
struct GradientShare {
  int64_t first = 0;            // the number of this process's first row among all rows
  int64_t part = 0, parts = 1;  // the number of this process, of how many
  using Sums = std::function<std::vector<at::Tensor>()>;
  /// Runs `own` and replaces the float64 tensors that it returns by their sums over the processes. Throws on
  /// every process if `own` throws on one.
  std::function<void(const Sums& own)> sum = [](const Sums& own) { own(); };
  /// Returns the rows of all processes, given those of this one.
  std::function<at::Tensor(const at::Tensor& own)> joined = [](const at::Tensor& own) { return own; };
};

/// Returns, for each of the rows [from, to), the output that rows.output chooses. `outputs` [b, k] holds all
/// outputs of these rows. Throws std::invalid_argument if a chosen index is not an output of the network. [b]
at::Tensor chosen_outputs(const at::Tensor& outputs, const GradientRows& rows, int64_t from, int64_t to);

/// Throws std::invalid_argument unless rows.inputs is set, size and batch are at least 0, and rows.output is
/// undefined or [n] int64. `function` is the caller's name in the message.
void check_rows(const GradientRows& rows, std::string_view function);

}  // namespace slimbayes
