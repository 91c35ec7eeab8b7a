#pragma once

#include <cstdint>

#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns a model of the method dnn with one set of the weights of a model with random weights, written out
/// as matrices: with draw 0 their centre, else those of this draw (Fitted::network_of). Encoder, noise and
/// split stay. Use it to serve a mean in one pass, or to take the weights elsewhere. The result has no
/// epistemic uncertainty, no conformal calibration, which would not hold for it, and no out-of-distribution
/// score of its method. Throws std::invalid_argument for a method without random weights and for a draw that
/// the model does not take.
Model materialised(const Model& model, int64_t draw = 0);

}  // namespace slimbayes
