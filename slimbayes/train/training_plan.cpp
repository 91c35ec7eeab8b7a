#include "slimbayes/train/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/train/checkpoint.h"

namespace slimbayes {

int64_t batch_size(const TrainingOptions& options, int64_t rows) {
  int64_t batch =
      options.batch > 0 ? options.batch : std::min<int64_t>(256, std::max<int64_t>(32, rows / 10));
  return std::min(batch, rows);
}

TrainingPlan training_plan(const TrainingOptions& options, int64_t rows, const BatchPlan& batches) {
  constexpr int64_t kRounds = 150;  // a long budget in steps has kRounds to 2 kRounds - 1 rounds
  check(rows > 0, "train", "at least one training row", "none");
  if (!(options.batch >= 0 && options.steps > 0 && options.epochs >= 0))
    refuse("train", "steps > 0, epochs >= 0 and batch >= 0",
           fmt::format("steps {}, epochs {}, batch {}", options.steps, options.epochs, options.batch));
  TrainingPlan plan;
  const int64_t batch = batch_size(options, rows);
  plan.steps_per_epoch = batches ? batches(Stream(0)).size() : (rows + batch - 1) / batch;
  plan.epochs = options.epochs > 0
                    ? options.epochs
                    : std::max<int64_t>(1, (options.steps + plan.steps_per_epoch / 2) / plan.steps_per_epoch);
  plan.epochs_per_round = options.epochs > 0 ? 1 : std::max<int64_t>(1, plan.epochs / kRounds);
  plan.steps = plan.epochs * plan.steps_per_epoch;
  return plan;
}

Standing standing(const TrainingPlan& plan, const TrainState& state, const TrainProblem& problem,
                  const TrainingOptions& options, double steps_per_second, double seconds) {
  return {state.step,
          plan.steps,
          plan.epochs_per_round * plan.steps_per_epoch,
          problem.select_from * plan.steps_per_epoch,
          problem.validate ? options.patience : 0,
          std::ssize(state.since_best),
          !std::isnan(state.summary.best_score) || !state.since_best.empty(),
          steps_per_second,
          seconds,
          options.time_limit};
}

}  // namespace slimbayes
