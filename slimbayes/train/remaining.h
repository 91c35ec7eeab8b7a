#pragma once

#include <cstdint>
#include <limits>

#include "slimbayes/export.h"

namespace slimbayes {

/// The current state of a training, from which remaining() estimates the time to its end.
struct Standing {
  int64_t step, steps;            // steps done; steps of the whole budget
  int64_t round_steps;            // steps between two validations
  int64_t first_choice = 0;       // step before which no validation counts (TrainProblem::select_from)
  int64_t patience = 0;           // rounds without a better score that end the training; 0: no limit
  int64_t rounds_since_best = 0;  // validations since the best score
  bool scored = false;            // whether a validation has counted yet
  double steps_per_second = 0;    // > 0
  double seconds = 0;             // so far
  double time_limit = 0;          // seconds; 0: none
};

/// The estimated time to the end of a training.
struct Remaining {
  double seconds = 0;  // until the budget or the time limit ends it, whichever is first
  /// Seconds until patience ends the training, if no later score is better; a steady rise of the scores may
  /// end it sooner. Infinite if there is no patience, or if the budget or the time limit ends it first.
  double if_none_better = std::numeric_limits<double>::infinity();
};

/// Estimates the time to the end of a training from its present speed.
SLIMBAYES_EXPORT Remaining remaining(const Standing& at);

}  // namespace slimbayes
