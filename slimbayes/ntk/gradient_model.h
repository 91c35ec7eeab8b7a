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

/// The function that this room differentiates: the outputs of a network as a function of all of its
/// parameters except those of its last linear layer. The gradient of one output, phi_m(x), has p numbers and
/// is never held for all rows.
struct GradientModel {
  /// Returns the outputs with a graph to `parameters`, in evaluation mode: a row's output must not depend on
  /// the other rows of its batch. [b, k]
  std::function<at::Tensor(const Input&)> output;
  std::vector<at::Tensor> parameters;  // leaves that require gradients, of one type
  /// Returns the outputs and the taps of the layers before the last, with a graph. Empty for a module whose
  /// layers are not known.
  std::function<Traced(const Input&)> traced;

  int64_t parameter_count() const;  // p
  at::ScalarType type() const;      // of the parameters; float64 if there are none
};

/// Binds a network whose last layer is the Linear that computes its output. Computes in `type`; the weights
/// are detached, and share memory with those of `lookup` if these have the type already. Throws
/// std::invalid_argument for another last layer and for an output that is not a vector.
GradientModel gradient_model(const NetworkSpec& spec, const std::string& prefix,
                             const Network::Lookup& lookup, at::ScalarType type);

/// Makes the same of a module, whose layers are not known, in its own type. The parameters are the module's
/// own tensors.
GradientModel gradient_model(const ScriptNetwork& network);

/// The rows whose gradients are taken.
struct GradientRows {
  int64_t size;                                           // n
  std::function<Input(int64_t from, int64_t to)> inputs;  // rows [from, to) in the type of the model
  at::Tensor output = {};  // [n] int64, the output that each row differentiates; undefined: output 0
  int64_t batch = 0;       // rows of one forward pass; 0: as many as fit into about 64 MB
  /// The index of a row with the most positions; memory and time are planned for it.
  int64_t longest = 0;
};

/// Returns the chosen output of each row of the batch [from, to), from all outputs [b, k]. Throws
/// std::invalid_argument if an index in rows.output is not an output of the network. [b]
at::Tensor chosen_outputs(const at::Tensor& outputs, const GradientRows& rows, int64_t from, int64_t to);

/// Throws std::invalid_argument if the rows hold no functions or `output` has another shape or type.
void check_rows(const GradientRows& rows, std::string_view function);

}  // namespace slimbayes
