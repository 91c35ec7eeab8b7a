#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Returns the quantile of the mixture of these components at the normal score z, row by row. `sd` [n] is the
/// scale of the tolerance. Throws NumericalError for a row whose quantile is not found. [n]
at::Tensor mixture_quantile(const std::vector<DensityComponent>& all, double z, const at::Tensor& sd);

}  // namespace slimbayes
