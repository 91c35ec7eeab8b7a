#pragma once

#include <cstdint>

#include "slimbayes/catalog/training_options.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// The division of a training's budget into epochs, rounds and steps. A round ends with a validation.
struct TrainingPlan {
  int64_t steps_per_epoch, epochs, epochs_per_round, steps;
};

/// Returns the number of rows per step: options.batch, or min(256, max(32, rows / 10)) if it is 0; at most
/// `rows`.
int64_t batch_size(const TrainingOptions& options, int64_t rows);

/// Returns the plan of a training on `rows` rows. A round is one epoch, or several epochs on a small table, so
/// that a budget in steps has at most 299 rounds and validation does not cost more than the steps; with a
/// budget in epochs every epoch is validated, as in the papers. `batches` is the problem's own plan, if it has
/// one. Throws std::invalid_argument for no rows or options out of range.
TrainingPlan training_plan(const TrainingOptions& options, int64_t rows, const BatchPlan& batches = {});

}  // namespace slimbayes
