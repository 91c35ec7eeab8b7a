#pragma once

#include <string>

#include "slimbayes/catalog/last_layer/last_layer_options.h"
#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `last-layer-laplace`, the Laplace approximation of a trained network's last layer.
struct LastLayerLaplaceOptions {
  TrainedNetworkOptions network;
  PosteriorChoiceOptions choice = {"evidence", "mse", "select", 1};
  std::string structure = "auto";
};

template <class V>
void describe(LastLayerLaplaceOptions& o, V& v) {
  describe(o.network, v);
  describe(o.choice, v);
  v("structure", o.structure,
    "classes: form of the Gauss-Newton matrix of the last layer's weights. full: all of it; kronecker: a "
    "product of a matrix of features and one of classes; auto: full up to 2,048 weights",
    Choices{{"auto", "full", "kronecker"}}, "Daxberger et al. 2021");
}

}  // namespace slimbayes
