#pragma once

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "slimbayes/method/trained_network.h"
#include "tests/nn/modules.h"

namespace slimbayes {

/// Our own network with these layers and tanh between them.
inline std::shared_ptr<const TrainedNetwork> own_network(const std::vector<modules::LinearWeights>& layers,
                                                         const Head& head) {
  TrainedNetwork network{{{{layers[0].weight.size(1)}}}, {}, head, {}};
  for (const modules::LinearWeights& one : layers) {
    if (!network.spec.layers.empty()) network.spec.layers.emplace_back(Activation{.function = "tanh"});
    const auto name = fmt::format("network.{}.", network.spec.layers.size());
    network.spec.layers.emplace_back(Linear{one.weight.size(0)});
    network.weights[name + "weight"] = one.weight;
    network.weights[name + "bias"] = one.bias;
  }
  return std::make_shared<const TrainedNetwork>(std::move(network));
}

}  // namespace slimbayes
