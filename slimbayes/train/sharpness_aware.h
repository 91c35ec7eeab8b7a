#pragma once

#include <string>
#include <vector>

#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns `step`, which fills the gradients of the problem, as a sharpness-aware one (Foret et al. 2021): it
/// takes the gradient g of the groups TrainProblem::sharp_groups, moves their values by sharpness * g / |g|,
/// takes the gradient of all groups there with the same batch and random numbers, and moves the values back.
/// The trainer uses that gradient, which leads to minima around which the loss is flat. The loss is that of
/// the first pass, or that of the second if it is not finite. Buffers change in the first pass only. A step
/// costs two passes. A gradient of length 0 has no direction: the step is then a plain one. If the
/// second pass throws, the values are moved back too. The problem's tensors must outlive the result.
GradientStep sharpness_aware(const TrainProblem& problem, GradientStep step);

}  // namespace slimbayes
