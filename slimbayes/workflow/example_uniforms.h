#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// row_uniforms (core/prediction_set.h) of each example, a batch at a time. The number depends on the
/// example's own values alone: of a text on its tokens without the padding of its batch. [n] float64
at::Tensor example_uniforms(const Dataset& data);

}  // namespace slimbayes
