#pragma once

#include <filesystem>
#include <string>

#include "slimbayes/catalog/training_options.h"
#include "slimbayes/core/random.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/problem.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

/// Where a fit saves its state so that a killed one can go on to the same bits.
struct CheckpointPolicy {
  std::filesystem::path path;  // empty: no checkpoints
  bool resume = false;         // go on from `path` if it is there
  std::string fingerprint;     // of all that decides the result; another one is refused
  double every_seconds = 2;    // between two checkpoints, at the end of a step; longer where writing one takes long
};

/// The rows a step takes when options.batch is 0: min(256, max(32, n / 10)), at most n.
int64_t batch_size(const TrainingOptions& options, int64_t rows);

/// The rate's factor in [0, 1] at a step.
double schedule_factor(const TrainingOptions& options, int64_t step, int64_t steps);

/// Runs AdamW over the flat groups: seeded permutation batches, schedule, validation each round, best
/// checkpoint, early stopping, limits. On return the groups hold the best parameters. Same problem, options
/// and stream: same bits, also across a kill and a resume. A loss that is not finite ends it with the best so
/// far and a note; throws NumericalError where there is none. A fit that the callback stops saves its last
/// step and returns the best so far; before the first validation there is none, and Summary::best_score is
/// nan. A checkpoint that cannot be written is a note.
Summary train(TrainProblem& problem, const TrainingOptions& options, const Stream& stream, Callback* callback,
              const CheckpointPolicy& checkpoint);

}  // namespace slimbayes
