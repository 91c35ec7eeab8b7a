// What happens in each epoch of a fit: its batches, its validation, what is announced of it, and its rate.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/train/toy.h"

namespace slimbayes {
namespace {

TEST(Train, AnEpochSeesEveryRowOnceInStepsOfNearlyEqualSize) {
  Toy toy;
  toy.fit(few_epochs(2));
  ASSERT_EQ(toy.seen.size(), 8u);
  for (int epoch : {0, 1}) {
    std::set<int64_t> rows;
    for (int i = 0; i < 4; ++i) {
      const auto& step = toy.seen[static_cast<size_t>(4 * epoch + i)];
      EXPECT_TRUE(step.size() == 12 || step.size() == 13);
      rows.insert(step.begin(), step.end());
    }
    EXPECT_EQ(rows.size(), 50u);
  }
  EXPECT_NE(toy.seen[0], toy.seen[4]);
}

TEST(Train, WithoutValidationKeepsTheLastParameters) {
  Toy toy;
  toy.validate = nullptr;
  Summary summary = toy.fit(few_epochs(200));
  EXPECT_NEAR(toy.value[0].item<double>(), 1.5, 1e-3);
  EXPECT_EQ(summary.best_epoch, 0);
  EXPECT_NE(to_json(summary).dump().find("\"best_score\":null"), std::string::npos);
}

TEST(Train, SmallTablesValidateOnlyAboutAHundredAndFiftyTimes) {
  Toy toy;
  int rounds = 0;
  auto score = toy.validate;
  toy.validate = [&] { return ++rounds, score(); };
  TrainingOptions options;
  options.steps = 12000;  // 3,000 epochs of four steps
  options.batch = 16;
  options.patience = 0;
  toy.fit(options);
  EXPECT_EQ(rounds, 150);
}

TEST(Train, ABudgetInEpochsValidatesEachOfThem) {
  Toy toy;
  int rounds = 0;
  auto score = toy.validate;
  toy.validate = [&] { return ++rounds, score(); };
  TrainingOptions options = few_epochs(400);
  options.patience = 0;
  toy.fit(options);
  EXPECT_EQ(rounds, 400);
}

TEST(Train, AfterEpochComesBeforeTheValidation) {
  Toy toy;
  std::vector<int64_t> order;  // epochs by after_epoch, -1 for a validation
  TrainProblem p = toy.problem();
  p.after_epoch = [&](const StepContext& last) {
    EXPECT_EQ(last.step, (last.epoch + 1) * 4 - 1);
    order.push_back(last.epoch);
  };
  p.validate = [&] {
    order.push_back(-1);
    return toy.validate();
  };
  train(p, few_epochs(3), Stream(7), nullptr, {});
  EXPECT_EQ(order, (std::vector<int64_t>{0, -1, 1, -1, 2, -1}));
}

TEST(Train, ChoosesFromTheEpochOnThatTheProblemNames) {
  Toy toy;
  double score = 0;
  TrainProblem p = toy.problem();
  p.validate = [&] { return score += 1; };  // the first score is the best
  p.select_from = 3;
  TrainingOptions options = few_epochs(8);
  options.patience = 2;
  const Summary summary = train(p, options, Stream(7), nullptr, {});
  EXPECT_EQ(summary.best_epoch, 3);
  EXPECT_EQ(summary.best_score, 3);
  EXPECT_EQ(summary.epochs, 5);  // the patience begins with the first score that may be chosen
  score = 0;
  p.select_from = 20;  // beyond the budget: the last parameters
  EXPECT_EQ(train(p, few_epochs(4), Stream(7), nullptr, {}).best_score, 5);
}

// Each epoch is announced with the batches that its steps get, also after a resume.
TEST(Train, AnnouncesEachEpochWithItsBatches) {
  Toy toy;
  TrainProblem problem = toy.problem();
  std::vector<int64_t> epochs;
  std::vector<std::vector<int64_t>> announced;
  problem.before_epoch = [&](const EpochContext& context) {
    EXPECT_EQ(context.epochs, 3);
    epochs.push_back(context.epoch);
    for (int64_t i = 0; i < context.batches.size(); ++i) {
      const at::Tensor rows = context.batches[i];
      announced.emplace_back(rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.size(0));
    }
  };
  train(problem, few_epochs(3), Stream(7), nullptr, {});
  EXPECT_EQ(epochs, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(announced, toy.seen);

  const CheckpointPolicy policy{scratch("announced.ckpt"), true, "f", 0};
  Toy cut;
  StopAt callback(6);  // four steps an epoch: within the second
  cut.fit(few_epochs(3), &callback, policy);
  TrainProblem rest = cut.problem();
  epochs.clear();
  rest.before_epoch = [&](const EpochContext& context) { epochs.push_back(context.epoch); };
  train(rest, few_epochs(3), Stream(7), nullptr, policy);
  EXPECT_EQ(epochs, (std::vector<int64_t>{1, 2}));
}

/// Returns the values after 16 epochs of this schedule whose validations get worse but for the last, which is
/// the best. So the parameters of the last epoch are kept, and they show the learning rates.
at::Tensor after_a_plateau(const std::string& schedule, Toy& toy, int64_t select_from = 0,
                           Callback* callback = nullptr, const CheckpointPolicy& policy = {}) {
  TrainingOptions options = few_epochs(16);
  options.schedule = schedule;
  options.patience = 0;
  toy.validate = [&toy] {  // epoch by epoch, also after a resume: 4 steps each
    const auto epoch = static_cast<double>(toy.seen.size() / 4);
    return epoch == 16 ? 0 : epoch;
  };
  TrainProblem problem = toy.problem();
  problem.select_from = select_from;
  train(problem, options, Stream(7), callback, policy);
  return toy.value;
}

// The rate of "plateau" depends on the scores, which a checkpoint keeps.
TEST(Train, APlateauHalvesTheRateAlsoAfterAResume) {
  Toy plateau, constant, cut;
  const at::Tensor whole = after_a_plateau("plateau", plateau);
  EXPECT_FALSE(at::equal(whole, after_a_plateau("constant", constant)));
  const CheckpointPolicy policy{scratch("plateau.ckpt"), true, "f", 0};
  StopAt callback(42);
  after_a_plateau("plateau", cut, 0, &callback, policy);
  EXPECT_TRUE(at::equal(whole, after_a_plateau("plateau", cut, 0, nullptr, policy)));
}

// The first epochs, whose objective is another one, must not set a score that later ones cannot reach.
TEST(Train, APlateauCountsNoScoreBeforeSelectFrom) {
  Toy plateau, constant, all;
  const at::Tensor late = after_a_plateau("plateau", plateau, 12);
  EXPECT_TRUE(at::equal(late, after_a_plateau("constant", constant, 12)));  // four scores are no plateau
  EXPECT_FALSE(at::equal(late, after_a_plateau("plateau", all)));
}

}  // namespace
}  // namespace slimbayes
