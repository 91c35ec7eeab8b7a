#pragma once

#include <string>
#include <vector>

#include "slimbayes/nn/network.h"

namespace slimbayes {

/// Added to the variance by the norms, as in PyTorch.
inline constexpr double kNormEpsilon = 1e-5;

/// Returns the parameters of one layer with their initial values, named `name`.weight and so on. `input` is
/// the shape of one row that goes into the layer.
std::vector<ParameterSpec> layer_parameters(const LayerSpec& layer, const Shape& input,
                                            const std::string& name, const std::string& group,
                                            const Stream& stream);

/// Whether a tensor of a network, by its name, is a buffer (group kBuffers): a running average of a batch
/// norm. All others are parameters.
bool is_buffer(const std::string& name);

/// Returns a function that computes the layer with the tensors that `lookup` returns. Dropout draws from a
/// stream split by `name`, so that every dropout layer has its own draws. Throws std::invalid_argument if a
/// tensor has another shape than the layer needs.
Network::Layer bind_layer(const LayerSpec& layer, const Shape& input, const std::string& name,
                          const Network::Lookup& lookup);

}  // namespace slimbayes
