#pragma once

#include "slimbayes/catalog/network_spec.h"
#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// The network in front of the basis.
struct BackboneOptions {
  std::string backbone = "resnet";
  std::string activation = "silu";
  int64_t hidden = 64;
  int64_t blocks = 2;

  /// Throws std::invalid_argument for an mlp without layers.
  NetworkSpec network(int64_t inputs) const {
    return backbone == "mlp" ? mlp(inputs, hidden, blocks, activation)
                             : tabular_resnet(inputs, hidden, blocks, activation);
  }
};

template <class V>
void describe(BackboneOptions& o, V& v) {
  v("backbone", o.backbone,
    "resnet: residual blocks with layer norms; mlp: plain layers, rarely better than resnet",
    Choices{{"resnet", "mlp"}}, "N appendix B, E section 4");
  v("activation", o.activation, "nonlinearity of the network", Choices{{"silu", "tanh", "relu"}},
    "N appendix B, E section 4");
  v("hidden", o.hidden, "width of the network; raise it on large tables", Range{1, 65536}, "N appendix B.2");
  v("blocks", o.blocks, "residual blocks, or layers of an mlp", Range{0, 64}, "N appendix B");
}

}  // namespace slimbayes
