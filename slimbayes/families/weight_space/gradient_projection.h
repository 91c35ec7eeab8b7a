#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/method/head.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {

// The out-of-distribution score of FiD-GP (Algorithm 2) for a classifier with inducing weights. At each of a
// few key layers, with output h(x),
//
//   z = h(x) * d loss(x, predicted class) / d h(x),   z~ = B z,
//   r = (I - P) z~,   P = U^T (U U^T + e I)^-1 U
//
// where B [M_in, N] has orthonormal rows, the first principal directions of the training rows' z, and U
// [M_out, M_in] is a draw of the layer's inducing weights that the model file stores. The score is the mean
// over the key layers of |r|. An image's z is summed over cells of a grid, so that N is at most 4096, and
// divided by the root of a cell's pixels; a sequence's over its steps.
//
// If U has rank M_in, as a draw with M_out >= M_in almost surely has, P is the identity and r is 0 for every
// row. The score then takes the k first right singular vectors of U in place of P, the least k that keep 90 %
// of the sum of squared singular values.

/// Returns the names of the sites at whose layers the score is computed. `chosen` holds labels of layers with
/// inducing weights (MapSite::label), or "auto": layer2.1.conv2 and layer4.1.conv2 where these have inducing
/// weights, as in the paper; else the middle one and the last one of the linear layers and convolutions with
/// inducing weights before the output layer, or the output layer if there is none. Empty for a plan without
/// inducing weights. Throws std::invalid_argument for a label without such a layer.
std::vector<std::string> key_sites(const NetworkSpec& spec, const NetworkLayout& layout,
                                   const WeightPlan& plan, const std::vector<std::string>& chosen);

/// A network with the mean weights of a posterior, and what its answers mean.
struct MeanNetwork {
  const Network& network;
  const WeightPosterior& weights;
  const Head& head;
  const NetworkSpec& spec;
};

/// Returns what the score needs beside the network, for the model file: the tensors "ood.SITE.directions" B
/// [M_in, N] and "ood.SITE.inducing" U [M_out, M_in] for each site. B comes from at most 1024 of the training
/// rows, drawn with `stream`; U too is drawn with it. Rows of B are 0 where z has fewer directions than M_in.
Weights projection_statistics(const MeanNetwork& of, const std::vector<std::string>& sites,
                              const Dataset& rows, const Stream& stream);

/// Returns the scores of rows [n] float64: "energy" of the network of the mean weights (class_likelihood.h)
/// and, if `stored` holds the tensors of projection_statistics(), the means over the key layers of |r|
/// ("residual"), |r| / |z~| ("relative_residual") and |z| ("gradient_norm"). The last one is the control: it
/// needs no inducing weights. A row's scores do not depend on the other rows of its batch. One forward and
/// one backward pass.
Scores projection_scores(const MeanNetwork& of, const Weights& stored, const Dataset& rows);

/// Returns for each key layer, in the network's order, an object: `layer` (its label), `columns` M_in,
/// `rank` the trace of P, and `kept`, the number k of directions that take the place of P, or 0 where P
/// itself serves.
nlohmann::json projection_facts(const NetworkLayout& layout, const Weights& stored);

}  // namespace slimbayes
