#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/last_layer/bll_options.h"
#include "slimbayes/catalog/last_layer/last_layer_options.h"
#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `rich-bll`, a Bayesian last layer whose prior knows the gradients of the whole network.
struct RichBllOptions {
  TrainedNetworkOptions network;
  LastLayerOptions posterior;
  std::string route = "auto";
  double ridge = 1e-5;
};

template <class V>
void describe(RichBllOptions& o, V& v) {
  describe(o.network, v);
  describe(o.posterior, v);
  v("route", o.route,
    "how the gradients of the earlier layers are summed (the paper's A^T A). auto: the cheapest exact way; "
    "gram: inner products of gradients, layer by layer; "
    "sums: weighted sums of gradients, layer by layer; weighted: one backward pass per feature, for any "
    "network; sketch: as weighted, with gradients hashed to few numbers, for networks too large for it",
    Choices{{"auto", "gram", "sums", "weighted", "sketch"}}, "R appendix B");
  v("ridge", o.ridge,
    "ridge of the regression of the network's gradients on the last layer's features, as a share of the mean "
    "squared norm of a row's features. 0: least squares, whose variance can explode away from rows that "
    "hardly span the features, as in one dimension; the paper's 1 for classes is no share but the ridge "
    "itself",
    Range{0, 1e9}, "slimbayes; R appendix C (classes)");
}

/// Returns the options of --preset paper: those of bll, and least squares.
inline nlohmann::json paper_rich_bll() {
  nlohmann::json preset = paper_last_layer();
  preset["ridge"] = 0.0;
  return preset;
}

}  // namespace slimbayes
