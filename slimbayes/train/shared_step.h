#pragma once

#include <cstdint>
#include <functional>

#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns the step of a problem whose ranks share the rows of every batch: each rank takes the gradient of
/// its share, and all get the gradient of the whole batch, in one sum over the ranks. A share counts by its
/// number of rows (StepContext::share). The buffers `batch_buffers` are averaged in the same way.
///
/// `asked` is called in each step; `told` gets the sum of the numbers that it returned on all ranks. So all
/// ranks learn in the same step that the fit is to end, at no further message. A NumericalError of one rank
/// becomes a loss of NaN on all, so that no rank waits for another one that has failed. The problem must
/// outlive the result.
GradientStep shared_step(const TrainProblem& problem, std::function<int64_t()> asked,
                         std::function<void(int64_t)> told);

}  // namespace slimbayes
