#pragma once

#include <string>
#include <vector>

#include "slimbayes/nn/network.h"

namespace slimbayes {

/// The parameters of one layer under `name` for rows of this shape.
std::vector<ParameterSpec> layer_parameters(const LayerSpec& layer, const Shape& input,
                                            const std::string& name, const std::string& group,
                                            const Stream& stream);

/// A layer bound to tensors. `number` tells its dropout from that of others. Throws std::invalid_argument for
/// tensors of other shapes.
Network::Layer bind_layer(const LayerSpec& layer, const Shape& input, const std::string& name,
                          const Network::Lookup& lookup);

}  // namespace slimbayes
