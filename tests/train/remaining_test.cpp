#include "slimbayes/train/remaining.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "slimbayes/train/trainer.h"

namespace slimbayes {
namespace {

/// Step 1000 of 20,000 at 10 steps a second, with a validation every 20 steps.
Standing standing() {
  Standing at{1000, 20000, 20};
  at.steps_per_second = 10;
  at.seconds = 100;
  at.scored = true;
  return at;
}

TEST(remaining, goes_to_the_end_of_the_budget) {
  const Remaining left = remaining(standing());
  EXPECT_EQ(left.seconds, 1900);
  EXPECT_TRUE(std::isinf(left.if_none_better));
}

TEST(remaining, is_bounded_by_the_time_limit) {
  Standing at = standing();
  at.time_limit = 130;
  EXPECT_EQ(remaining(at).seconds, 30);
  at.time_limit = 90;
  EXPECT_EQ(remaining(at).seconds, 0);  // the step that passes the limit
  at.time_limit = 1e6;
  EXPECT_EQ(remaining(at).seconds, 1900);
}

TEST(remaining, knows_the_patience) {
  Standing at = standing();
  at.patience = 40;
  EXPECT_EQ(remaining(at).if_none_better, 80);  // 40 validations, each after 2 seconds
  EXPECT_EQ(remaining(at).seconds, 1900);
  at.rounds_since_best = 35;
  EXPECT_EQ(remaining(at).if_none_better, 10);
  at.step = 1015;  // 5 steps before the next validation
  EXPECT_EQ(remaining(at).if_none_better, 8.5);
  at.time_limit = 105;
  EXPECT_TRUE(std::isinf(remaining(at).if_none_better));  // the limit comes first
  EXPECT_EQ(remaining(at).seconds, 5);
}

TEST(remaining, counts_from_the_first_validation_that_counts) {
  Standing at = standing();
  at.scored = false;
  at.patience = 40;
  EXPECT_EQ(remaining(at).if_none_better, 82);  // the next is the best, then 40 that are not
  at.first_choice = 1200;
  EXPECT_EQ(remaining(at).if_none_better, 100);  // the best at step 1200, the end at step 2000
}

TEST(remaining, of_a_patience_that_the_budget_cuts_off) {
  Standing at = standing();
  at.steps = 1500;
  at.patience = 40;
  EXPECT_EQ(remaining(at).seconds, 50);
  EXPECT_TRUE(std::isinf(remaining(at).if_none_better));
}

struct Watch : Callback {
  std::vector<Progress> seen;
  void report(const Progress& progress) override { seen.push_back(progress); }
};

/// A training in which no validation is better than the first, and none of the first two counts.
Summary trained(const TrainingOptions& options, Callback* callback) {
  TrainProblem problem;
  problem.groups = {{"all", at::zeros({2}), at::zeros({2}), 0.05, 0}};
  problem.rows = 50;
  problem.step = [](const Batch&, const StepContext&) { return 1.0; };
  problem.validate = [] { return 1.0; };
  problem.select_from = 3;
  return train(problem, options, Stream(7), callback, {});
}

TEST(remaining, is_what_the_trainer_reports) {
  TrainingOptions options;
  options.epochs = 1000;
  options.batch = 16;
  options.patience = 5;
  options.time_limit = 1e9;
  Watch watch;
  const Summary summary = trained(options, &watch);
  EXPECT_EQ(summary.stopped, Stopped::patience);
  for (const Progress& p : watch.seen)  // in steps
    EXPECT_NEAR(p.left.if_none_better * p.steps_per_second, static_cast<double>(summary.steps - p.step),
                0.01);
  EXPECT_EQ(watch.seen.back().rounds_since_best, 5);
}

}  // namespace
}  // namespace slimbayes
