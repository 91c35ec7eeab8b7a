#pragma once

#include <cstdint>
#include <vector>

namespace slimbayes {

/// Returns whether early stopping ends a training: after `patience` validations without a better score, or
/// earlier if the scores rise steadily. `since_best` holds the scores after the best one. With patience 0 it
/// never ends a training. The result depends only on the arguments, so that a resumed training ends at the
/// same step.
bool patience_spent(const std::vector<double>& since_best, int64_t patience);

}  // namespace slimbayes
