#include "slimbayes/train/steps_apart.h"

#include <cmath>
#include <limits>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

namespace {

std::vector<at::Tensor> averaged_tensors(const TrainProblem& problem, const AdamW& optimiser) {
  std::vector<at::Tensor> all = optimiser.state();
  all.pop_back();  // the number of steps, which all ranks have
  for (const ParameterGroup& group : problem.groups) all.push_back(group.value);
  all.insert(all.end(), problem.batch_buffers.begin(), problem.batch_buffers.end());
  return all;
}

/// Returns the share of the training rows that this rank takes steps over.
double share_of_rows(const TrainProblem& problem) {
  const auto disk = problem.source ? problem.source->on_disk() : std::nullopt;
  if (!disk || disk->parts.size() == 2) return 1 / static_cast<double>(problem.ranks->size());
  return static_cast<double>(disk->end() - disk->first()) / static_cast<double>(disk->parts.back());
}

}  // namespace

StepsApart::StepsApart(const TrainProblem& problem, const AdamW& optimiser, int64_t every,
                       int64_t steps_per_epoch)
    : average_(*problem.ranks, averaged_tensors(problem, optimiser)),
      weight_(share_of_rows(problem)),
      every_(every),
      steps_per_epoch_(steps_per_epoch) {}

bool StepsApart::together(int64_t step) const { return step % steps_per_epoch_ % every_ == 0; }

void StepsApart::take(const GradientStep& step, const Batch& batch, StepContext context,
                      const std::function<void()>& update) {
  if (!std::isfinite(loss_)) return;
  context.share = 1;
  try {
    loss_ += step(batch, context).value();
  } catch (const NumericalError&) {
    loss_ = std::numeric_limits<double>::quiet_NaN();
  }
  if (std::isfinite(loss_)) update();
}

std::pair<double, int64_t> StepsApart::join(int64_t own) {
  double loss = std::exchange(loss_, 0);
  const int64_t sum = average_(weight_, loss, own);
  return {loss, sum};
}

}  // namespace slimbayes
