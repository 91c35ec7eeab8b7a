#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace slimbayes {

/// One layer, as data. `kind` is "linear", "layer_norm", "silu", "tanh", "relu" or "residual" (x + body(x)).
struct LayerSpec {
  std::string kind;
  int64_t in = 0;                    // features that come in
  int64_t out = 0;                   // features that go out
  std::vector<LayerSpec> body = {};  // of "residual"

  bool operator==(const LayerSpec&) const = default;
};

/// A network described once, as a list of layers; the model file holds it as JSON. Without layers it is the
/// identity.
using NetworkSpec = std::vector<LayerSpec>;

/// N appendix B: Linear d to h, `blocks` times x + Linear(SiLU(Linear(LayerNorm x))), LayerNorm, SiLU; with
/// another activation in SiLU's place.
NetworkSpec tabular_resnet(int64_t inputs, int64_t hidden, int64_t blocks,
                           const std::string& activation = "silu");

/// `layers` times Linear and activation, each of width h (E section 4: two of 128, tanh). Throws
/// std::invalid_argument without layers.
NetworkSpec mlp(int64_t inputs, int64_t hidden, int64_t layers, const std::string& activation);

nlohmann::json to_json(const NetworkSpec& spec);

/// Throws std::invalid_argument for an unknown kind, sizes that do not chain or more than 4,096 layers.
NetworkSpec network_from_json(const nlohmann::json& json);

}  // namespace slimbayes
