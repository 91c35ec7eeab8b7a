#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// Returns the factor in [0, 1] by which the schedule multiplies the learning rate at `step` of `steps`.
/// `scores` are all validation scores so far, for the schedule "plateau": PyTorch's ReduceLROnPlateau, which
/// halves the rate after more than five scores that are not below the best one before them.
double schedule_factor(const TrainingOptions& options, int64_t step, int64_t steps,
                       const std::vector<double>& scores = {});

/// The weight of a KL term over the epochs: 0, then a linear rise to 1.
struct KlSchedule {
  int64_t zero = 0;  // epochs with weight 0
  int64_t ramp = 0;  // epochs of the rise; the last of them has weight 1

  double weight(int64_t epoch) const;  // epoch from 0
  /// Returns TrainProblem::select_from: parameters may be chosen after the first epoch whose weight was 1.
  int64_t select_from() const;
};

}  // namespace slimbayes
