#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

// The weights by which the answers of a model are scored (FitOptions::weights): a row of weight w counts as w
// equal rows, and a row of weight 0 is left out (scored_examples in data/fit_examples.h).

/// Returns the weights (scored_weights) of the examples that have an answer, each above 0: those of weight 0
/// must have been left out. [m]; undefined if each counts once.
at::Tensor answered_weights(const Model& model, const Examples& examples, const Answers& answers);

/// Returns the kind of weights that the calibration rows of the model have (FitOptions::weights_are).
/// `grouped`: rows with identical inputs share a group.
ConformalWeight conformal_weight_of(const FitOptions& fit, bool grouped);

}  // namespace slimbayes
