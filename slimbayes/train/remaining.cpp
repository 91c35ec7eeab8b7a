#include "slimbayes/train/remaining.h"

#include <algorithm>

namespace slimbayes {
namespace {

/// Returns the step at which patience ends the training if no later score is better. If no validation has
/// counted yet, assumes that the first one that counts is the best.
int64_t step_of_patience(const Standing& at) {
  const int64_t next = at.step / at.round_steps + 1;  // round of the next validation, from 1
  const int64_t first = std::max(next, (at.first_choice + at.round_steps - 1) / at.round_steps);
  const int64_t more = at.scored ? at.patience - at.rounds_since_best : at.patience + 1;
  return (first + more - 1) * at.round_steps;
}

}  // namespace

Remaining remaining(const Standing& at) {
  const auto seconds_to = [&](int64_t step) {
    return static_cast<double>(std::max<int64_t>(step - at.step, 0)) / std::max(at.steps_per_second, 1e-9);
  };
  Remaining out{seconds_to(at.steps)};
  if (at.time_limit > 0) out.seconds = std::clamp(at.time_limit - at.seconds, 0.0, out.seconds);
  if (at.patience == 0) return out;
  const double patient = seconds_to(step_of_patience(at));
  if (patient < out.seconds) out.if_none_better = patient;
  return out;
}

}  // namespace slimbayes
