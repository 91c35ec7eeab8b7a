#pragma once

#include <cstdint>

#include "slimbayes/catalog/training_options.h"
#include "slimbayes/train/problem.h"
#include "slimbayes/train/remaining.h"

namespace slimbayes {

/// The division of a training's budget into epochs (passes over the rows), rounds (epochs up to the next
/// validation) and steps.
struct TrainingPlan {
  int64_t steps_per_epoch, epochs, epochs_per_round, steps;
};

/// Returns the number of rows per step: options.batch, or min(256, max(32, rows / 10)) if it is 0; at most
/// `rows`.
int64_t batch_size(const TrainingOptions& options, int64_t rows);

/// Returns the plan of a training on `rows` rows. With a budget in epochs (options.epochs > 0) every epoch
/// ends with a validation, as in the papers N and E. With a budget in steps a round is one epoch, or several
/// on a small table: there are at most 299 rounds, so that validation does not cost more than the steps.
/// `batches` is the problem's own batch plan, if it has one. Throws std::invalid_argument for no rows or
/// options out of range.
TrainingPlan training_plan(const TrainingOptions& options, int64_t rows, const BatchPlan& batches = {});

struct TrainState;  // checkpoint.h

/// Returns where a training stands in its plan, for remaining(), after so many seconds. Without validation
/// its patience is 0 (no limit), because only validation scores use patience up.
Standing standing(const TrainingPlan& plan, const TrainState& state, const TrainProblem& problem,
                  const TrainingOptions& options, double steps_per_second, double seconds);

}  // namespace slimbayes
