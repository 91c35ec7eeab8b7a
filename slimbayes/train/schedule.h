#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// Returns the factor in [0, 1] by which the schedule multiplies the learning rate at `step` of `steps`.
/// `scores` are all validation scores that count so far (TrainProblem::select_from). Only the schedule
/// "plateau" uses them: like PyTorch's ReduceLROnPlateau, it halves the rate after more than five scores in a
/// row that are not below the best earlier score. "step" is a tenth in the second half. "cosine-log" is
/// coslog4 of Holzmueller et al. 2024: (1 - cos(2 pi log2(1 + 15 t))) / 2 at the share t of the steps.
double schedule_factor(const TrainingOptions& options, int64_t step, int64_t steps,
                       const std::vector<double>& scores = {});

/// The weight of a KL term in each epoch: 0 for some epochs, then a linear rise to 1.
struct KlSchedule {
  int64_t zero = 0;  // epochs with weight 0
  int64_t ramp = 0;  // epochs of the rise; the last one has weight 1

  double weight(int64_t epoch) const;  // epoch from 0
  /// Returns the value for TrainProblem::select_from: 0 if the weight is always 1, otherwise the number of
  /// epochs up to and including the first one with weight 1.
  int64_t select_from() const;
};

/// Returns the schedule, shortened in proportion where it would leave less than a quarter of `epochs` with
/// weight 1. The parameters are chosen among those epochs, so a schedule needs some.
KlSchedule shortened(const KlSchedule& schedule, int64_t epochs);

}  // namespace slimbayes
