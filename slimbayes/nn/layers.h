#pragma once

#include <string>
#include <vector>

#include "slimbayes/nn/network.h"

namespace slimbayes {

/// The constant that the norm layers add to the variance before they divide by its root, as in PyTorch.
inline constexpr double kNormEpsilon = 1e-5;

/// Returns whether the tensor of this name is a buffer (group kBuffers), that is a running average of a batch
/// norm. All other tensors of a network are parameters.
bool is_buffer(const std::string& name);

/// Returns the functions that compute a chain of layers, one for each layer. The layers are named `name`.0,
/// `name`.1 and so on; `input` is the shape of one row at the first layer. A function takes its weights from
/// the binding of the pass (Pass::binding), at the indices given by `layout`. Every dropout layer draws from
/// a stream split by the layer's name, so that the layers' draws are independent. Throws
/// std::invalid_argument if the layers do not fit each other.
std::vector<Network::Layer> made_layers(const std::vector<LayerSpec>& layers, Shape input,
                                        const std::string& name, const NetworkLayout& layout);

}  // namespace slimbayes
