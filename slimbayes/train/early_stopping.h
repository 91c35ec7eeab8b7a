#pragma once

#include <cstdint>
#include <vector>

namespace slimbayes {

/// Returns whether early stopping ends a training: after `patience` validations without a better score, or
/// earlier where they rise steadily. `since_best` holds the scores after the best one. A patience of 0 never
/// ends it. Depends on its arguments alone, so that a resumed training ends where an undisturbed one does.
bool patience_spent(const std::vector<double>& since_best, int64_t patience);

}  // namespace slimbayes
