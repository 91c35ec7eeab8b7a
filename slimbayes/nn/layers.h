#pragma once

#include <string>
#include <vector>

#include "slimbayes/nn/network.h"

namespace slimbayes {

/// Added to the variance by the norms, as in PyTorch.
inline constexpr double kNormEpsilon = 1e-5;

/// Whether a tensor of a network, by its name, is a buffer (group kBuffers): a running average of a batch
/// norm. All others are parameters.
bool is_buffer(const std::string& name);

/// Returns the computations of a chain of layers, named `name`.0, `name`.1, ... `input` is the shape of one
/// row that goes into the first. A computation takes its tensors from the binding of the pass, at the places
/// that `layout` gives them. Dropout draws from a stream split by its layer's name, so that every dropout
/// layer has its own draws. Throws std::invalid_argument if the layers do not fit each other.
std::vector<Network::Layer> made_layers(const std::vector<LayerSpec>& layers, Shape input,
                                        const std::string& name, const NetworkLayout& layout);

}  // namespace slimbayes
