#include "slimbayes/train/schedule.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(Schedule, OneCycleRisesThenFallsToZero) {
  TrainingOptions options;
  options.warmup = 0.1;
  EXPECT_NEAR(schedule_factor(options, 0, 1000), 1.0 / 101, 1e-12);
  EXPECT_NEAR(schedule_factor(options, 100, 1000), 1, 1e-12);
  EXPECT_NEAR(schedule_factor(options, 550, 1000), 0.5, 1e-12);
  EXPECT_LT(schedule_factor(options, 999, 1000), 1e-5);
  options.schedule = "cosine";
  EXPECT_EQ(schedule_factor(options, 0, 1000), 1);
  EXPECT_NEAR(schedule_factor(options, 500, 1000), 0.5, 1e-12);
  options.schedule = "constant";
  EXPECT_EQ(schedule_factor(options, 999, 1000), 1);
  options.schedule = "step";
  EXPECT_EQ(schedule_factor(options, 499, 1000), 1);
  EXPECT_EQ(schedule_factor(options, 500, 1000), 0.1);
}

TEST(Schedule, CosineLogHasFourCyclesEachTwiceAsLong) {
  TrainingOptions options;
  options.schedule = "cosine-log";
  for (const int64_t step : {0, 100, 300, 700})
    EXPECT_NEAR(schedule_factor(options, step, 1500), 0, 1e-12) << step;  // t = 1/15, 3/15, 7/15
  EXPECT_NEAR(schedule_factor(options, 1499, 1500), 0, 1e-5);
  EXPECT_NEAR(schedule_factor(options, 183, 1500), 1, 1e-3);  // 1 + 15 t = 2^1.5
  EXPECT_EQ(schedule_factor(options, 0, 0), 0);
}

TEST(Schedule, PlateauHalvesAfterMoreThanFiveScoresThatAreNotBetter) {
  TrainingOptions options;
  options.schedule = "plateau";
  const auto factor = [&](const std::vector<double>& scores) {
    return schedule_factor(options, 0, 9, scores);
  };
  EXPECT_EQ(factor({}), 1);
  EXPECT_EQ(factor({3, 2, 2, 2, 2, 2, 2}), 1);
  EXPECT_EQ(factor({3, 2, 2, 2, 2, 2, 2, 2}), 0.5);
  EXPECT_EQ(factor({3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1}), 0.5);
  EXPECT_EQ(factor({3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1}), 0.25);
}

TEST(KlSchedule, IsZeroThenRisesToOneAndChoosesFromThere) {
  const KlSchedule paper{2, 2};  // 0 for 2 epochs, then full by the 4th
  EXPECT_EQ(paper.weight(0), 0);
  EXPECT_EQ(paper.weight(1), 0);
  EXPECT_EQ(paper.weight(2), 0.5);
  EXPECT_EQ(paper.weight(3), 1);
  EXPECT_EQ(paper.weight(9), 1);
  EXPECT_EQ(paper.select_from(), 4);
  const KlSchedule none, step{3, 0};
  EXPECT_EQ(none.weight(0), 1);
  EXPECT_EQ(none.select_from(), 0);
  EXPECT_EQ(step.weight(2), 0);
  EXPECT_EQ(step.weight(3), 1);
  EXPECT_EQ(step.select_from(), 4);
  for (const KlSchedule& one : {paper, step, KlSchedule{0, 20}}) {
    EXPECT_EQ(one.weight(one.select_from() - 1), 1);
    EXPECT_LT(one.weight(one.select_from() - 2), 1);
  }
}

TEST(KlSchedule, ShortensWhereAShortRunWouldNeverSeeTheWholeKl) {
  const KlSchedule paper{100, 50};
  EXPECT_EQ(shortened(paper, 200).select_from(), 150);
  for (const int64_t epochs : {1, 2, 10, 40, 150, 199}) {
    const KlSchedule one = shortened(paper, epochs);
    EXPECT_LE(one.select_from(), epochs) << epochs;
    if (epochs > 2) {
      EXPECT_LE(4 * one.select_from(), 3 * epochs) << epochs;
    }
    EXPECT_EQ(one.weight(epochs - 1), 1) << epochs;
  }
  EXPECT_EQ(shortened(paper, 40).zero, 20);
  EXPECT_EQ(shortened(paper, 40).ramp, 10);
  EXPECT_EQ(shortened({}, 3).select_from(), 0);
}

}  // namespace
}  // namespace slimbayes
