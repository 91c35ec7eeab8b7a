#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// Returns row_uniforms (core/prediction_set.h) of each example: the number that randomises its prediction
/// set. It depends on the example's own values alone; the padding of a text in its batch does not count. [n]
/// float64
at::Tensor example_uniforms(const Dataset& data);

}  // namespace slimbayes
