#include "slimbayes/train/early_stopping.h"

#include <algorithm>
#include <numeric>

// Scores are losses: lower is better. Scores that rise steadily after the best one indicate overfitting, so a
// training may then stop before its patience is used up. The test for such a rise is criterion UP of
// Prechelt, Early stopping - but when?, 1998: it cuts the latest scores, as many as three quarters of the
// patience, into six strips. False alarms are rare: if the scores are pure noise, all scores of a strip of
// five exceed all scores of another strip with probability 1/252. Half of the patience would be too short: in
// a fit with ten validation rows the score rose for 20 rounds and reached its best value in round 23. A score
// that does not rise steadily gets the whole patience.

namespace slimbayes {

namespace {

/// Returns whether the scores since the best one rise steadily. A strip is patience / 8 consecutive
/// scores, rounded down. The means of the last six strips must increase, and all scores of the last strip
/// must exceed all scores of the first. Returns false if a strip has fewer than five scores. Also returns
/// false unless the number of scores is a multiple of the strip's length, so that the test is made once per
/// strip.
bool rises_steadily(const std::vector<double>& since_best, int64_t patience) {
  constexpr int64_t kOfPatience = 8, kStrips = 6, kShortest = 5;
  const int64_t strip = patience / kOfPatience, n = std::ssize(since_best);
  if (strip < kShortest || n < kStrips * strip || n % strip != 0) return false;
  const auto first = since_best.end() - kStrips * strip, last = since_best.end() - strip;
  const auto sum = [&](int64_t i) {
    return std::accumulate(first + i * strip, first + (i + 1) * strip, 0.0);
  };
  for (int64_t i = 1; i < kStrips; ++i) {
    if (!(sum(i) > sum(i - 1))) return false;
  }
  return *std::min_element(last, since_best.end()) > *std::max_element(first, first + strip);
}

}  // namespace

bool patience_spent(const std::vector<double>& since_best, int64_t patience) {
  return patience > 0 && (std::ssize(since_best) >= patience || rises_steadily(since_best, patience));
}

}  // namespace slimbayes
