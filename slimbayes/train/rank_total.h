#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Returns x summed over the ranks, where each of them takes the gradient of the mean over its share of a
/// batch's rows. The gradient of x is such that the sum of the ranks' gradients, each times its share, is the
/// gradient of the mean over the batch. All ranks call it in the same order, and differentiate its result.
at::Tensor total_over_ranks(const at::Tensor& x, const Collective& ranks, double share);

}  // namespace slimbayes
