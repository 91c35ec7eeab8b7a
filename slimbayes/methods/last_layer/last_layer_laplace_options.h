#pragma once

#include <string>

#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/methods/last_layer/last_layer_options.h"

namespace slimbayes {

/// Options of `last-layer-laplace`: a network is trained, then the weights of its last layer get a Laplace
/// approximation of their posterior.
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
    "classes: form of the Gauss-Newton matrix of the last layer's weights. full: the whole matrix; "
    "kronecker: "
    "the Kronecker product of a matrix over features and one over classes; auto: full for at most 2,048 "
    "weights, else kronecker",
    Choices{{"auto", "full", "kronecker"}}, "Daxberger et al. 2021");
}

}  // namespace slimbayes
