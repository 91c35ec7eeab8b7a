#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Trained parameters and buffers by name, each a tensor of its own rather than a view of a flat buffer.
using Weights = std::map<std::string, at::Tensor>;

/// Returns a copy of every parameter and buffer on the CPU, without gradients.
Weights snapshot(const Parameters& parameters);

/// Returns every tensor of a model file. Throws std::invalid_argument if an element is not finite.
Weights weights_from(const TensorFile& file);
/// Adds every weight to the file's tensors.
void store(const Weights& weights, TensorFile& file);

/// Returns the values of a binding as trained weights: every tensor of the layout by name, with every matrix,
/// whatever its form (LinearMap), as it stands in a deterministic network. Throws std::logic_error as
/// dense().
Weights dense_weights(const NetworkLayout& layout, const Binding& binding);

/// Returns a function that looks up a weight by name and converts it to this type and device. `weights` must
/// outlive it. The function throws DataError for an unknown name.
Network::Lookup as_type(const Weights& weights, const at::TensorOptions& options);

}  // namespace slimbayes
