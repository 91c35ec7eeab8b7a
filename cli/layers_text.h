#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"

namespace slimbayes::cli {

/// The shapes of the tensors of a model file, by name.
using TensorShapes = std::map<std::string, std::vector<int64_t>>;

/// The sizes of a layer with inducing weights.
struct InducingLayer {
  std::string layer = {};
  int64_t out = 0, in = 0, rows = 0, columns = 0, dense = 0, parameters = 0;
  std::string flow = {};
};

template <class V>
void describe(InducingLayer& f, V& v) {
  v("layer", f.layer, "label of the layer");
  v("out", f.out, "rows of its matrix");
  v("in", f.in, "columns of its matrix, with the bias as a column if it is one");
  v("rows", f.rows, "rows of the inducing matrix");
  v("columns", f.columns, "columns of the inducing matrix");
  v("dense", f.dense, "parameters of a deterministic layer");
  v("parameters", f.parameters, "parameters that are stored");
  v("flow", f.flow, "none, certified or paper; only the certified one has a bounded Lipschitz constant");
}

/// What the file holds for the score of foreign rows (the "residual" of models with inducing weights).
struct ForeignScoreLayer {
  std::string layer = {};
  int64_t numbers = 0;
};

template <class V>
void describe(ForeignScoreLayer& f, V& v) {
  v("layer", f.layer, "label of the layer");
  v("numbers", f.numbers, "how many numbers the file holds for it");
}

/// Returns the layers of a model with inducing weights, from the network in its file (null: none) and the
/// shapes of its tensors. Empty for another model, and for a damaged file.
std::vector<InducingLayer> inducing_layers(const nlohmann::json& network, const TensorShapes& tensors,
                                           bool spectral);

/// Returns what the file holds for the score of foreign rows. Empty for another model, and for a damaged
/// file.
std::vector<ForeignScoreLayer> foreign_score_layers(const nlohmann::json& network,
                                                    const TensorShapes& tensors);

/// Returns multiply_adds() of the network in the file; nothing for a model without one and a damaged file.
std::optional<int64_t> pass_cost(const nlohmann::json& network);

/// Returns one line per matrix that the file holds in a smaller form: as a product A B^T of random factors,
/// or by inducing weights, with the parameters and bytes of each; "" if there is none.
std::string layers_text(const TensorShapes& tensors, const std::vector<InducingLayer>& layers,
                        const std::vector<ForeignScoreLayer>& foreign);

}  // namespace slimbayes::cli
