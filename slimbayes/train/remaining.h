#pragma once

#include <cstdint>
#include <limits>

namespace slimbayes {

/// Where a training stands.
struct Standing {
  int64_t step, steps;            // steps done; budget
  int64_t round_steps;            // steps between two validations
  int64_t first_choice = 0;       // step before which no validation counts (TrainProblem::select_from)
  int64_t patience = 0;           // rounds without a better score that end it; 0: none do
  int64_t rounds_since_best = 0;  // validations since the best score
  bool scored = false;            // whether a validation has counted yet
  double steps_per_second = 0;    // > 0
  double seconds = 0;             // so far
  double time_limit = 0;          // seconds; 0: none
};

/// How long a training goes on.
struct Remaining {
  double seconds = 0;  // until its budget or its time limit is spent, whichever is first
  /// Seconds until its patience is spent if no score is better until then (a steady rise of the scores may
  /// end it sooner). Infinite if the budget or the time limit comes first, or without patience.
  double if_none_better = std::numeric_limits<double>::infinity();
};

/// Returns how long a training goes on at its present speed.
Remaining remaining(const Standing& at);

}  // namespace slimbayes
