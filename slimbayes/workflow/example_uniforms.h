#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// Returns for each example the uniform number that randomises its prediction set (row_uniforms,
/// core/prediction_set.h). It depends only on the example's own values, not on the padding of a text in its
/// batch. [n] float64
at::Tensor example_uniforms(const Dataset& data);

}  // namespace slimbayes
