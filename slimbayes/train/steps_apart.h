#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "slimbayes/train/adamw.h"
#include "slimbayes/train/problem.h"
#include "slimbayes/train/shared_step.h"

namespace slimbayes {

/// Steps that the ranks of a problem take apart (local SGD, Stich 2019; here with AdamW): each rank trains on
/// its share of every batch, and after some steps all take the average of their parameters, of AdamW's
/// moments and of the buffers that the rows of a batch change. So one message of three numbers a parameter
/// replaces a message in every step.
class StepsApart {
 public:
  /// The ranks come together after every `every` steps of an epoch, and at its end. The problem must outlive
  /// this object.
  StepsApart(const TrainProblem& problem, const AdamW& optimiser, int64_t every, int64_t steps_per_epoch);

  /// Returns whether all ranks have the same parameters before the step of this number.
  bool together(int64_t step) const;

  /// Takes the gradient of this rank's rows as of a batch of their own, and calls `update`. A rank whose loss
  /// is not finite rests until join(), so that no other waits for it.
  void take(const GradientStep& step, const Batch& batch, StepContext context,
            const std::function<void()>& update);

  /// Averages over the ranks. Returns the mean over them of the sum of losses since the last call, and the
  /// sum of their numbers `own`.
  std::pair<double, int64_t> join(int64_t own);

 private:
  RankSum average_;
  double weight_;  // of a rank
  int64_t every_, steps_per_epoch_;
  double loss_ = 0;  // sum of the losses of this rank since the last join()
};

}  // namespace slimbayes
