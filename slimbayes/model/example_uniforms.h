#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// Returns one pseudo-random number in (0, 1) per example, with which its prediction set is randomised
/// (row_uniforms, answers/prediction_set.h). The number depends only on the example's own values: the padding
/// that a text gets in its batch is left out. So an example gets the same number in calibration and in
/// prediction. [n] float64
at::Tensor example_uniforms(const Dataset& data);

}  // namespace slimbayes
