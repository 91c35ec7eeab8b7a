#include "slimbayes/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace slimbayes {

namespace {

double plateau_factor(const std::vector<double>& scores) {
  constexpr int64_t kPatience = 5;
  constexpr double kFactor = 0.5;
  double factor = 1, best = std::numeric_limits<double>::infinity();
  int64_t worse = 0;
  for (const double score : scores) {
    if (score < best) {
      best = score;
      worse = 0;
    } else if (++worse > kPatience) {
      factor *= kFactor;
      worse = 0;
    }
  }
  return factor;
}

}  // namespace

double schedule_factor(const TrainingOptions& options, int64_t step, int64_t steps,
                       const std::vector<double>& scores) {
  if (options.schedule == "constant") return 1;
  if (options.schedule == "plateau") return plateau_factor(scores);
  if (options.schedule == "step") return 2 * step < steps ? 1 : 0.1;
  if (options.schedule == "cosine-log") {
    const double t = static_cast<double>(step) / static_cast<double>(std::max<int64_t>(steps, 1));
    return 0.5 * (1 - std::cos(2 * std::numbers::pi * std::log2(1 + 15 * t)));
  }
  const double share = options.schedule == "cosine" ? 0 : options.warmup;
  double rise = share * static_cast<double>(steps), now = static_cast<double>(step);
  if (now < rise) return (now + 1) / (rise + 1);
  double done = (now - rise) / std::max(static_cast<double>(steps) - rise, 1.0);
  return 0.5 * (1 + std::cos(std::numbers::pi * done));
}

double KlSchedule::weight(int64_t epoch) const {
  if (epoch < zero) return 0;
  if (ramp == 0) return 1;
  return std::min(1.0, static_cast<double>(epoch + 1 - zero) / static_cast<double>(ramp));
}

KlSchedule shortened(const KlSchedule& schedule, int64_t epochs) {
  const int64_t rising = schedule.zero + schedule.ramp;
  if (4 * rising <= 3 * epochs) return schedule;
  const double share = 0.75 * static_cast<double>(epochs) / static_cast<double>(rising);
  const auto scaled = [&](int64_t n) { return static_cast<int64_t>(share * static_cast<double>(n)); };
  return {scaled(schedule.zero), scaled(schedule.ramp)};
}

int64_t KlSchedule::select_from() const {
  return zero == 0 && ramp == 0 ? 0 : zero + std::max<int64_t>(1, ramp);
}

}  // namespace slimbayes
