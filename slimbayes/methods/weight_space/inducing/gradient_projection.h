#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/predict_options.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

// The out-of-distribution score of FiD-GP (Algorithm 2) for a classifier with inducing weights. At each of a
// few key layers, with output h(x),
//
//   z = h(x) * d loss(x, predicted class) / d h(x),   z~ = B z,
//   r = (I - P) z~,   P = U^T (U U^T + e I)^-1 U
//
// where B [M_in, N] has orthonormal rows, the first principal directions of the training rows' z, and U
// [M_out, M_in] is a draw of the layer's inducing weights that the model file stores. h(x) is that of the
// network of the same draw. The network of the mean weights would not do: its activations differ from those
// of the draws, of which its batch norms hold the averages. The score is the mean over the key layers of |r|.
// For B, an image's z is summed over cells of a grid, so that a convolution has at most 4096 numbers, and
// divided by the root of a cell's pixels; a sequence's is summed over its steps.
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

/// A network, the posterior of its weights, and what its answers mean.
struct ScoredNetwork {
  const Network& network;
  const WeightPosterior& weights;
  const Head& head;
  const NetworkSpec& spec;
};

/// Returns the tensors that the score needs in addition to the network, for the model file: the tensors
/// "ood.SITE.directions" B [M_in, N] and "ood.SITE.inducing" U [M_out, M_in] for each site. B comes from at
/// most 1024 of the training rows, drawn with `stream`, whatever their weights: the score asks which rows are
/// known, not how much each counts; `ranks` is FitContext::ranks. Rows of B are 0 where z has fewer
/// directions than M_in.
Weights projection_statistics(const ScoredNetwork& of, const std::vector<std::string>& sites,
                              const Dataset& rows, const Stream& stream, const Collective* ranks = nullptr);

/// Returns the scores of rows [n] float64. Without key layers: "energy" (class_likelihood.h) of the network
/// of the mean weights. If `stored` holds the tensors of projection_statistics(), "energy" of the network of
/// the draw, and the means over the key layers of |r| ("residual"), |r| / |z~| ("relative_residual"; 1 where
/// z~ is 0 and z is not), |z~| ("projected_norm") and the norm of z before any sum over cells or steps
/// ("gradient_norm"). The last two are the controls: neither uses U, the last one not even the training
/// rows. There is no residual if a layer has no direction, or if the directions that take the place of P are
/// all M_in, because it would be 0 for every row. A row's scores do not depend on the other rows of its
/// batch. One forward and one backward pass, on options.device, where the weights must be.
Scores projection_scores(const ScoredNetwork& of, const Weights& stored, const Dataset& rows,
                         const PredictOptions& options = {});

/// Returns for each key layer, in the network's order, its label and numbers: `columns` M_in, `directions`
/// (rows of B that are not 0), `rank` the trace of P, and `kept`, the number k of directions that take the
/// place of P, or 0 where P itself serves.
std::vector<ProjectorFact> projection_facts(const NetworkLayout& layout, const Weights& stored);

/// Returns an image's z [b, c, h, w] summed over the cells of a grid, each sum divided by the root of the
/// cell's pixels. The cells are the smallest squares with which at most `most` numbers remain (or one cell),
/// cut at the edges. [b, N]
at::Tensor over_cells(const at::Tensor& z, int64_t most);

}  // namespace slimbayes
