#pragma once

#include "slimbayes/catalog/last_layer/last_layer_options.h"
#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `bll`, a Bayesian last layer on top of a trained network.
struct BllOptions {
  TrainedNetworkOptions network;
  LastLayerOptions posterior;
};

template <class V>
void describe(BllOptions& o, V& v) {
  describe(o.network, v);
  describe(o.posterior, v);
}

/// Returns the options of --preset paper for the post-hoc methods (R appendix C): two layers of 50 units with
/// ReLU in mu-P, Adam at 1e-3 with batches of 32 and gradients of norm 1 at most, up to 3,000 epochs; the
/// noise is the validation MSE, the prior sd 1; then the network is trained again on all rows.
inline nlohmann::json paper_last_layer() {
  return {{"network", "mlp"},
          {"hidden", 50},
          {"blocks", 2},
          {"activation", "relu"},
          {"parametrisation", "mup"},
          {"reference_width", 50},
          {"epochs", 3000},
          {"batch", 32},
          {"learning_rate", 1e-3},
          {"weight_decay", 0.0},
          {"clip_norm", 1.0},
          {"schedule", "constant"},
          {"patience", 0},
          {"noise", "mse"},
          {"prior", "fixed"},
          {"prior_sd", 1.0},
          {"refit", true}};
}

}  // namespace slimbayes
