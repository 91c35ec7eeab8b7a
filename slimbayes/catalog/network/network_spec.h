#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/layers.h"
#include "slimbayes/catalog/network/shape.h"

namespace slimbayes {

/// The architecture of a network: the shape of one input row, and the layers. Without layers the network is
/// the identity. The model file stores it as JSON.
struct NetworkSpec {
  Shape input;
  std::vector<LayerSpec> layers = {};
};

/// The name of the layer's kind, as in JSON.
std::string kind_of(const LayerSpec& layer);

/// What a layer makes of a row. Throws std::invalid_argument where it does not take such a row; `place` names
/// the layer.
Shape output(const LayerSpec& layer, const Shape& input, const std::string& place = "");

/// What comes out of the network. Throws std::invalid_argument with the first layer that does not fit the one
/// before.
Shape output(const NetworkSpec& spec);

/// A line a layer, such as "conv2d out 32 kernel 3 -> an image of 32 x 28 x 28".
std::vector<std::string> lines_of(const NetworkSpec& spec);

nlohmann::json to_json(const NetworkSpec& spec);

/// Throws std::invalid_argument for an unknown kind, options that are none, shapes that do not chain and more
/// than 4,096 layers.
NetworkSpec network_from_json(const nlohmann::json& json);

}  // namespace slimbayes
