#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/layers.h"
#include "slimbayes/catalog/network/shape.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The architecture of a network: the shape of one input row, and the layers. A network without layers is the
/// identity. The model file stores the architecture as JSON.
struct NetworkSpec {
  Shape input;
  std::vector<LayerSpec> layers = {};
};

/// The largest rank of a matrix A B^T of random factors.
inline constexpr int64_t kMostRank = 65536;

/// Returns the name of the layer's kind in JSON, such as "linear".
SLIMBAYES_EXPORT std::string kind_of(const LayerSpec& layer);

/// Returns the shape of a layer's output for a row of shape `input`. Throws std::invalid_argument if the
/// layer cannot take such a row. `place` is the name of the layer in the message, such as "3".
SLIMBAYES_EXPORT Shape output(const LayerSpec& layer, const Shape& input, const std::string& place = "");

/// Returns the shape of the network's output for one row. Throws std::invalid_argument if a layer does not
/// fit the output of the layer before it; the message names the first such layer.
SLIMBAYES_EXPORT Shape output(const NetworkSpec& spec);

/// Returns one line of text per layer, with its options and the shape of its output, such as "linear bias
/// true out 64 -> a vector of 64". A residual is one line, without the layers inside it.
SLIMBAYES_EXPORT std::vector<std::string> lines_of(const NetworkSpec& spec);

/// Returns the architecture as JSON, which network_from_json reads.
SLIMBAYES_EXPORT nlohmann::json to_json(const NetworkSpec& spec);

/// Reads an architecture from untrusted JSON. Throws std::invalid_argument for an unknown kind of layer, an
/// unknown option, a value out of range, layers that do not fit each other, more than 8 nested residuals, or
/// more than 4,096 layers.
SLIMBAYES_EXPORT NetworkSpec network_from_json(const nlohmann::json& json);

}  // namespace slimbayes
