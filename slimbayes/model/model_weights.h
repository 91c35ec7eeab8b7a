#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "slimbayes/model/model.h"

namespace slimbayes {

// The weights by which the answers of a model are scored (FitOptions::weights): a row of weight w counts as w
// equal rows, and a row of weight 0 is left out.

/// Returns the weight of each example, of a window that of the row to predict. Undefined if the model was
/// fitted without weights or the examples lack their column: each example then counts once. [n] float64, each
/// >= 0. Throws std::invalid_argument for a cell that is no number or negative.
at::Tensor weights_of(const Model& model, const Examples& examples);

/// Returns the indices of the examples of weight above 0, ascending; nothing if all have one. Throws
/// std::invalid_argument as weights_of(), and if there are examples and all have the weight 0.
std::optional<std::vector<int64_t>> weighed_examples(const Model& model, const Examples& examples);

/// Returns the examples of weight above 0 with their answers, in their order; nothing if all have one.
/// `answers` are those of Model::answers() for `examples`. Throws as weighed_examples().
std::optional<std::pair<Examples, Answers>> weighed_answers(const Model& model, const Examples& examples,
                                                            const Answers& answers);

/// Returns the weights of the examples that have an answer, each above 0: those of weight 0 must have been
/// left out (weighed_answers). [m]; undefined as weights_of().
at::Tensor answered_weights(const Model& model, const Examples& examples, const Answers& answers);

/// Returns the kind of weights that the calibration rows of the model have (FitOptions::weights_are).
/// `grouped`: rows with identical inputs share a group.
ConformalWeight conformal_weight_of(const FitOptions& fit, bool grouped);

}  // namespace slimbayes
