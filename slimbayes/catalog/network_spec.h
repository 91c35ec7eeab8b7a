#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace slimbayes {

/// One layer, as data. `kind` is "linear", "layer_norm", "silu" or "residual" (x + body(x)).
struct LayerSpec {
  std::string kind;
  int64_t in = 0;                    // features that come in
  int64_t out = 0;                   // features that go out
  std::vector<LayerSpec> body = {};  // of "residual"

  bool operator==(const LayerSpec&) const = default;
};

/// A network described once, as a list of layers; the model file holds it as JSON.
using NetworkSpec = std::vector<LayerSpec>;

/// N appendix B: Linear d to h, `blocks` times x + Linear(SiLU(Linear(LayerNorm x))), LayerNorm, SiLU.
NetworkSpec tabular_resnet(int64_t inputs, int64_t hidden, int64_t blocks);

nlohmann::json to_json(const NetworkSpec& spec);

/// Throws std::invalid_argument for an unknown kind or sizes that do not chain.
NetworkSpec network_from_json(const nlohmann::json& json);

}  // namespace slimbayes
