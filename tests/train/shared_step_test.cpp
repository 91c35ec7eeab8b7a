// Several ranks, each a thread here, train one problem together (train/shared_step.h).
#include "slimbayes/train/shared_step.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "slimbayes/core/check.h"
#include "slimbayes/train/plan.h"
#include "tests/train/part_source.h"
#include "tests/train/thread_ranks.h"
#include "tests/train/toy.h"

namespace slimbayes {
namespace {

const std::vector<std::string> kNothing2(2, ""), kNothing3(3, "");

/// Fits a toy on each of several ranks, and returns the toys.
std::vector<Toy> fitted_on_ranks(int64_t size, const TrainingOptions& options, double sharpness = 0) {
  std::vector<Toy> toys(static_cast<size_t>(size));
  const auto thrown = run_ranks(size, [&](const Collective& ranks) {
    Toy& toy = toys[static_cast<size_t>(ranks.rank())];
    toy.ranks = &ranks;
    toy.sharpness = sharpness;
    toy.fit(options);
  });
  EXPECT_EQ(thrown, std::vector<std::string>(static_cast<size_t>(size), ""));
  return toys;
}

TEST(SharedStep, HasTheGradientOfTheWholeBatch) {
  for (const double sharpness : {0.0, 0.05}) {
    Toy alone;
    alone.sharpness = sharpness;
    alone.fit(few_epochs(30));
    for (const int64_t size : {1, 2, 3}) {
      const std::vector<Toy> toys = fitted_on_ranks(size, few_epochs(30), sharpness);
      for (const Toy& toy : toys) {
        EXPECT_TRUE(at::allclose(toy.value, alone.value, 1e-9, 1e-12)) << size;
        EXPECT_TRUE(at::equal(toy.value, toys[0].value)) << size;
      }
    }
  }
}

TEST(SharedStep, SharesTheRowsOfEachBatch) {
  Toy alone;
  alone.fit(few_epochs(2));
  const std::vector<Toy> toys = fitted_on_ranks(3, few_epochs(2));
  for (size_t step = 0; step < alone.seen.size(); ++step) {
    std::vector<int64_t> all;
    for (const Toy& toy : toys) {
      EXPECT_LE(std::ssize(toy.seen[step]), std::ssize(alone.seen[step]) / 3 + 1);
      all.insert(all.end(), toy.seen[step].begin(), toy.seen[step].end());
    }
    EXPECT_EQ(all, alone.seen[step]);
  }
}

// Of rows on disk each rank has another part: together they make the steps of one process with the same plan.
TEST(SharedStep, TakesTheRowsThatARankHas) {
  const std::vector<int64_t> parts = {0, 18, 50};
  const BatchPlan plan = plan_of_windows(parts, 5, 16, 8);
  for (const double sharpness : {0.0, 0.05}) {
    Toy alone;
    alone.sharpness = sharpness;
    TrainProblem whole = alone.problem();
    whole.plan = plan;
    train(whole, few_epochs(30), Stream(7), nullptr, {});
    std::vector<Toy> toys(2);
    const auto thrown = run_ranks(2, [&](const Collective& ranks) {
      Toy& toy = toys[static_cast<size_t>(ranks.rank())];
      toy.ranks = &ranks;
      toy.sharpness = sharpness;
      TrainProblem problem = toy.problem();
      problem.plan = plan;
      problem.source =
          std::make_shared<PartSource>(problem.source, Source::OnDisk{8, 16, parts, ranks.rank()});
      train(problem, few_epochs(30), Stream(7), nullptr, {});
    });
    EXPECT_EQ(thrown, (std::vector<std::string>{"", ""}));
    for (const Toy& toy : toys) {
      EXPECT_TRUE(at::allclose(toy.value, alone.value, 1e-9, 1e-12));
      EXPECT_TRUE(at::equal(toy.value, toys[0].value));
    }
  }
}

// A batch of two rows and three ranks: each takes both.
TEST(SharedStep, OfFewRowsIsTakenWholeByEachRank) {
  TrainingOptions options = few_epochs(1);
  options.batch = 2;
  Toy alone;
  alone.fit(options);
  const std::vector<Toy> toys = fitted_on_ranks(3, options);
  EXPECT_EQ(toys[1].seen, alone.seen);
  EXPECT_TRUE(at::allclose(toys[2].value, alone.value, 1e-9, 1e-12));
}

TEST(SharedStep, AProblemWithoutAMeanOverRowsIsTakenWholeByEachRank) {
  Toy alone;
  alone.fit(few_epochs(3));
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    TrainProblem problem = toy.problem();
    problem.mean_of_rows = false;
    train(problem, few_epochs(3), Stream(7), nullptr, {});
    EXPECT_TRUE(at::equal(toy.value, alone.value));
    EXPECT_EQ(toy.seen, alone.seen);
  });
  EXPECT_EQ(thrown, kNothing2);
}

TEST(SharedStep, AveragesTheBuffersThatABatchChanges) {
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    TrainProblem problem = toy.problem();
    at::Tensor mean = at::zeros({1}, at::kDouble), steps = at::zeros({1}, at::kDouble);
    problem.buffers = {mean, steps};
    problem.batch_buffers = {mean};
    const GradientStep step = problem.step;
    problem.step = [&](const Batch& batch, const StepContext& at) {
      mean.copy_(batch.target.mean().reshape({1}));
      steps += 1;
      return step(batch, at);
    };
    TrainingOptions options = few_epochs(1);
    options.batch = 50;
    train(problem, options, Stream(7), nullptr, {});
    EXPECT_NEAR(mean.item<double>(), toy.y.mean().item<double>(), 1e-12);
    EXPECT_EQ(steps.item<double>(), 1);
  });
  EXPECT_EQ(thrown, kNothing2);
}

TEST(SharedStep, AFailureOfOneRankIsOneOfAll) {
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    TrainProblem problem = toy.problem();
    const GradientStep step = problem.step;
    problem.step = [&](const Batch& batch, const StepContext& at) {
      if (ranks.rank() == 1) throw NumericalError("[toy] a factorisation failed");
      return step(batch, at);
    };
    EXPECT_THROW(train(problem, few_epochs(3), Stream(7), nullptr, {}), NumericalError);
  });
  EXPECT_EQ(thrown, kNothing2);
}

/// Learns from the trainer that rank 0 ends the fit.
struct Follower : Callback {
  bool stopped = false;
  bool stop() override { return stopped; }
  void follow(Stopped why) override { stopped = why == Stopped::interrupted; }
};

TEST(SharedStep, RankZeroDecidesWhenToStopAndKeepsTheCheckpoint) {
  const std::vector<Toy> whole = fitted_on_ranks(2, few_epochs(6));
  for (const int64_t stop : {0, 1, 9, 23}) {
    const std::filesystem::path path = scratch("ranks.ckpt"), elsewhere = scratch("of another machine.ckpt");
    std::vector<int64_t> steps(2);
    const auto policy_of = [&](const Collective& ranks, bool resume) {
      return CheckpointPolicy{ranks.rank() == 0 ? path : elsewhere, resume, "f", 0};
    };
    const auto interrupted = run_ranks(2, [&](const Collective& ranks) {
      Toy toy;
      toy.ranks = &ranks;
      StopAt first(stop);
      Follower other;
      Callback* const callback = ranks.rank() == 0 ? static_cast<Callback*>(&first) : &other;
      const Summary summary = toy.fit(few_epochs(6), callback, policy_of(ranks, false));
      EXPECT_EQ(summary.stopped, Stopped::interrupted);
      EXPECT_TRUE(callback->stop());
      steps[static_cast<size_t>(ranks.rank())] = summary.steps;
    });
    EXPECT_EQ(interrupted, kNothing2);
    EXPECT_EQ(steps[0], steps[1]);
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(elsewhere));
    const auto resumed = run_ranks(2, [&](const Collective& ranks) {
      Toy rest;
      rest.ranks = &ranks;
      rest.fit(few_epochs(6), nullptr, policy_of(ranks, true));
      EXPECT_TRUE(at::equal(rest.value, whole[0].value)) << stop;
      EXPECT_EQ(std::ssize(rest.seen), 24 - steps[0]);
    });
    EXPECT_EQ(resumed, kNothing2);
  }
}

TEST(SharedStep, AFailureInTheSecondPassOfASharpStepIsOneOfAll) {
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    toy.sharpness = 0.1;
    TrainProblem problem = toy.problem();
    const GradientStep step = problem.step;
    int64_t passes = 0;
    problem.step = [&](const Batch& batch, const StepContext& at) {
      if (ranks.rank() == 1 && ++passes == 2) throw NumericalError("[toy] a factorisation failed");
      return step(batch, at);
    };
    EXPECT_THROW(train(problem, few_epochs(3), Stream(7), nullptr, {}), NumericalError);
  });
  EXPECT_EQ(thrown, kNothing2);
}

TEST(SharedStep, AnInterruptOfAnyRankStopsAll) {
  std::vector<int64_t> steps(2);
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    StopAt one(5);
    Follower other;
    Callback* const callback = ranks.rank() == 1 ? static_cast<Callback*>(&one) : &other;
    const Summary summary = toy.fit(few_epochs(6), callback);
    EXPECT_EQ(summary.stopped, Stopped::interrupted);
    EXPECT_TRUE(callback->stop());
    steps[static_cast<size_t>(ranks.rank())] = summary.steps;
  });
  EXPECT_EQ(thrown, kNothing2);
  EXPECT_EQ(steps[0], steps[1]);
}

// Two rows for two ranks would be one each, of which a batch norm has no variance.
TEST(SharedStep, OfABatchNormGivesEachRankTwoRows) {
  TrainingOptions options = few_epochs(1);
  options.batch = 3;
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    TrainProblem problem = toy.problem();
    problem.buffers = problem.batch_buffers = {at::zeros({1}, at::kDouble)};
    train(problem, options, Stream(7), nullptr, {});
    for (const std::vector<int64_t>& rows : toy.seen) EXPECT_GE(rows.size(), 2u);
  });
  EXPECT_EQ(thrown, kNothing2);
}

TEST(SharedStep, TheScoreOfRankZeroChoosesTheParameters) {
  std::vector<at::Tensor> kept(3);
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    int64_t calls = 0;
    toy.validate = [&] { return ++calls == 2 + ranks.rank() ? 1.0 : 2.0; };
    EXPECT_EQ(toy.fit(few_epochs(6)).best_epoch, 2);
    kept[static_cast<size_t>(ranks.rank())] = toy.value;
  });
  EXPECT_EQ(thrown, kNothing3);
  EXPECT_TRUE(at::equal(kept[0], kept[2]));
}

// The mean over a batch of rows scaled by a statistic of all rows, of which two ranks have 3 and 7.
TEST(RankTotal, HasTheGradientOfTheWholeBatch) {
  const at::Tensor rows = at::arange(1, 11, at::kDouble), start = at::tensor({0.7}, at::kDouble);
  const auto loss = [](const at::Tensor& x, const at::Tensor& w, const auto& total) {
    const at::Tensor y = (w * x).sin();
    return (y * total(y.square().sum().reshape({1}))).mean();
  };
  const at::Tensor w = start.clone().requires_grad_();
  const at::Tensor whole = loss(rows, w, [](const at::Tensor& x) { return x; });
  whole.backward();
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    const at::Tensor x = ranks.rank() == 0 ? rows.narrow(0, 0, 3) : rows.narrow(0, 3, 7);
    const double share = static_cast<double>(x.size(0)) / 10;
    const at::Tensor own = start.clone().requires_grad_();
    const at::Tensor mean =
        loss(x, own, [&](const at::Tensor& sum) { return total_over_ranks(sum, ranks, share); });
    mean.backward();
    const at::Tensor both = at::cat({own.grad(), mean.detach().reshape({1})}) * share;
    ranks.sum(both);
    EXPECT_NEAR(both[0].item<double>(), w.grad().item<double>(), 1e-12);
    EXPECT_NEAR(both[1].item<double>(), whole.item<double>(), 1e-12);
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"", ""}));
}

}  // namespace
}  // namespace slimbayes
