#include "slimbayes/train/summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace slimbayes {
namespace {

Summary summary(Stopped stopped, int64_t valid_rows, int64_t steps, double best_score) {
  Summary s;
  s.stopped = stopped;
  s.valid_rows = valid_rows;
  s.steps = steps;
  s.best_score = best_score;
  return s;
}

TEST(IsUsable, AFitThatEndedByItselfIs) {
  EXPECT_TRUE(is_usable(summary(Stopped::converged, 0, 0, NAN)));
  EXPECT_TRUE(is_usable(summary(Stopped::time, 10, 5, NAN)));
}

TEST(IsUsable, AnInterruptedFitIsAfterAScoreOrItsFirstStep) {
  EXPECT_TRUE(is_usable(summary(Stopped::interrupted, 10, 0, 0.5)));  // solved without steps
  EXPECT_FALSE(is_usable(summary(Stopped::interrupted, 10, 5, NAN)));
  EXPECT_TRUE(is_usable(summary(Stopped::interrupted, 0, 1, NAN)));
  EXPECT_FALSE(is_usable(summary(Stopped::interrupted, 0, 0, INFINITY)));
}

}  // namespace
}  // namespace slimbayes
