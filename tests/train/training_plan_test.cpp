#include "slimbayes/train/training_plan.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(BatchSize, IsATenthBetween32And256AndAtMostTheRows) {
  TrainingOptions options;
  EXPECT_EQ(batch_size(options, 20), 20);
  EXPECT_EQ(batch_size(options, 100), 32);
  EXPECT_EQ(batch_size(options, 1000), 100);
  EXPECT_EQ(batch_size(options, 100000), 256);
  options.batch = 1024;
  EXPECT_EQ(batch_size(options, 100000), 1024);
}

TEST(TrainingPlan, RoundsABudgetInStepsToEpochsAndValidatesThemInRounds) {
  TrainingOptions options;
  options.steps = 20000;
  const TrainingPlan plan = training_plan(options, 1000);
  EXPECT_EQ(plan.steps_per_epoch, 10);
  EXPECT_EQ(plan.epochs, 2000);
  EXPECT_EQ(plan.epochs_per_round, 13);
  EXPECT_EQ(plan.steps, 20000);
  options.epochs = 7;
  EXPECT_EQ(training_plan(options, 1000).steps, 70);
  EXPECT_EQ(training_plan(options, 1000).epochs_per_round, 1);
  EXPECT_EQ(training_plan(options, 1000, [](const Stream&) { return std::vector<at::Tensor>(3); }).steps, 21);
  EXPECT_THROW(training_plan(options, 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
