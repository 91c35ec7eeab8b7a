#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Trained parameters by name, no longer part of a flat buffer.
using Weights = std::map<std::string, at::Tensor>;

/// Copies of every parameter, without gradients.
Weights snapshot(const Parameters& parameters);

/// Every tensor of a model file. Throws std::invalid_argument for one that is not finite.
Weights weights_from(const TensorFile& file);
void store(const Weights& weights, TensorFile& file);

/// A lookup of these weights in another type. Throws DataError for a name that they lack.
Network::Lookup as_type(const Weights& weights, at::ScalarType type);

}  // namespace slimbayes
