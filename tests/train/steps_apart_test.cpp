// Ranks that take some steps apart and then average (train/steps_apart.h), each a thread here.
#include "slimbayes/train/steps_apart.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "slimbayes/core/check.h"
#include "slimbayes/train/plan.h"
#include "slimbayes/train/schedule.h"
#include "tests/train/part_source.h"
#include "tests/train/thread_ranks.h"
#include "tests/train/toy.h"

namespace slimbayes {
namespace {

TrainingOptions apart(int64_t epochs, int64_t every) {
  TrainingOptions options = few_epochs(epochs);
  options.sync_every = every;
  options.select_by = "last";
  return options;
}

std::vector<Toy> fitted_apart(int64_t size, const TrainingOptions& options) {
  std::vector<Toy> toys(static_cast<size_t>(size));
  const auto thrown = run_ranks(size, [&](const Collective& ranks) {
    Toy& toy = toys[static_cast<size_t>(ranks.rank())];
    toy.ranks = &ranks;
    toy.fit(options);
  });
  EXPECT_EQ(thrown, std::vector<std::string>(static_cast<size_t>(size), ""));
  return toys;
}

/// The same steps of all ranks, one rank after another, on the rows that each has seen: AdamW on own copies,
/// whose values and moments are averaged by hand.
at::Tensor by_hand(const std::vector<Toy>& toys, const TrainingOptions& options, int64_t steps_per_epoch,
                   const std::vector<double>& shares) {
  std::vector<at::Tensor> values, grads;
  std::vector<AdamW> optimisers;
  for (size_t r = 0; r < toys.size(); ++r) {
    values.push_back(at::zeros({2}, at::kDouble));
    grads.push_back(at::zeros({2}, at::kDouble));
    optimisers.emplace_back(std::vector<ParameterGroup>{{"all", values[r], grads[r], 0.05, 0}},
                            options.beta2);
  }
  const auto steps = std::ssize(toys[0].seen);
  for (int64_t step = 0; step < steps; ++step) {
    for (size_t r = 0; r < toys.size(); ++r) {
      const at::Tensor rows = at::tensor(toys[r].seen[static_cast<size_t>(step)], at::kLong),
                       x = toys[r].x.index_select(0, rows), y = toys[r].y.index_select(0, rows);
      grads[r].copy_(at::mv(x.t(), at::mv(x, values[r]) - y) * (2.0 / static_cast<double>(rows.size(0))));
      optimisers[r].step(schedule_factor(options, step, steps, {}));
    }
    const int64_t done = step % steps_per_epoch + 1;
    if (done % options.sync_every != 0 && done != steps_per_epoch) continue;
    const auto average = [&](const auto& of) {
      at::Tensor mean = at::zeros({2}, at::kDouble);
      for (size_t r = 0; r < toys.size(); ++r) mean += of(r) * shares[r];
      for (size_t r = 0; r < toys.size(); ++r) of(r).copy_(mean);
    };
    average([&](size_t r) -> const at::Tensor& { return values[r]; });
    average([&](size_t r) { return optimisers[r].state()[0]; });
    average([&](size_t r) { return optimisers[r].state()[1]; });
  }
  return values[0];
}

TEST(StepsApart, AreAdamWOnTheOwnRowsAndAveragesBetweenThem) {
  for (const int64_t size : {2, 3})
    for (const int64_t every : {2, 3, 100}) {
      const TrainingOptions options = apart(8, every);
      const std::vector<Toy> toys = fitted_apart(size, options);
      EXPECT_EQ(std::ssize(toys[0].seen), 32);
      for (const Toy& toy : toys) EXPECT_TRUE(at::equal(toy.value, toys[0].value));
      const std::vector<double> shares(toys.size(), 1 / static_cast<double>(size));
      EXPECT_TRUE(at::allclose(toys[0].value, by_hand(toys, options, 4, shares), 1e-10, 1e-12))
          << size << every;
      EXPECT_FALSE(at::allclose(toys[0].value, fitted_apart(size, apart(8, 1))[0].value, 1e-6, 1e-6));
    }
}

// Of rows on disk each rank has another part, which counts by its rows.
TEST(StepsApart, OfUnequalPartsCountByTheirRows) {
  const std::vector<int64_t> parts = {0, 18, 50};
  const TrainingOptions options = apart(8, 3);
  std::vector<Toy> toys(2);
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy& toy = toys[static_cast<size_t>(ranks.rank())];
    toy.ranks = &ranks;
    TrainProblem problem = toy.problem();
    problem.plan = plan_of_windows(parts, 4, 16, 8);
    problem.source = std::make_shared<PartSource>(problem.source, Source::OnDisk{8, 16, parts, ranks.rank()});
    train(problem, options, Stream(7), nullptr, {});
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"", ""}));
  EXPECT_TRUE(at::equal(toys[0].value, toys[1].value));
  EXPECT_TRUE(at::allclose(toys[0].value, by_hand(toys, options, 4, {0.36, 0.64}), 1e-10, 1e-12));
}

// Three ranks that all take the whole batch of two rows take the same steps.
TEST(StepsApart, OfTheSameRowsAreThoseOfOneProcess) {
  TrainingOptions options = apart(2, 5);
  options.batch = 2;
  Toy alone;
  alone.fit(options);
  EXPECT_TRUE(at::allclose(fitted_apart(3, options)[1].value, alone.value, 1e-12, 1e-14));
}

/// Counts the messages of a rank.
class Counted : public Collective {
 public:
  explicit Counted(const Collective& inner) : inner_(inner) {}
  int64_t rank() const override { return inner_.rank(); }
  int64_t size() const override { return inner_.size(); }
  void sum(const at::Tensor& x) const override {
    ++sums;
    inner_.sum(x);
  }
  void broadcast(const at::Tensor& x) const override { inner_.broadcast(x); }
  at::Tensor gather(const at::Tensor& x) const override { return inner_.gather(x); }
  mutable int64_t sums = 0;

 private:
  const Collective& inner_;
};

TEST(StepsApart, SendOneMessageAfterSoManySteps) {
  for (const auto& [every, expected] : std::vector<std::pair<int64_t, int64_t>>{{2, 12}, {3, 12}, {4, 6}}) {
    const auto thrown = run_ranks(2, [&](const Collective& ranks) {
      const Counted counted(ranks);
      Toy toy;
      toy.ranks = &counted;
      toy.fit(apart(6, every));                        // 6 epochs of 4 steps
      EXPECT_EQ(counted.sums, expected + 1) << every;  // and one before the first step: to go on or not
    });
    EXPECT_EQ(thrown, std::vector<std::string>(2, ""));
  }
}

TEST(StepsApart, StopAndGoOnWhereTheRanksAreTogether) {
  struct Follower : Callback {
    bool stopped = false;
    bool stop() override { return stopped; }
    void follow(Stopped why) override { stopped = why == Stopped::interrupted; }
  };
  const std::vector<Toy> whole = fitted_apart(2, apart(6, 3));
  std::set<int64_t> ends;
  for (const int64_t stop : {0, 1, 2, 3, 6, 7}) {
    const std::filesystem::path path = scratch("apart.ckpt"), elsewhere = scratch("apart elsewhere.ckpt");
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
      steps[static_cast<size_t>(ranks.rank())] =
          toy.fit(apart(6, 3), callback, policy_of(ranks, false)).steps;
    });
    EXPECT_EQ(interrupted, std::vector<std::string>(2, ""));
    EXPECT_EQ(steps[0], steps[1]);
    EXPECT_TRUE(steps[0] % 4 == 0 || steps[0] % 4 == 3) << steps[0];
    ends.insert(steps[0]);
    const auto resumed = run_ranks(2, [&](const Collective& ranks) {
      Toy rest;
      rest.ranks = &ranks;
      rest.fit(apart(6, 3), nullptr, policy_of(ranks, true));
      EXPECT_TRUE(at::equal(rest.value, whole[0].value)) << stop;
      EXPECT_EQ(std::ssize(rest.seen), 24 - steps[0]);
    });
    EXPECT_EQ(resumed, std::vector<std::string>(2, ""));
  }
  EXPECT_GT(ends.size(), 3u);
}

TEST(StepsApart, AFailureOfOneRankIsOneOfAll) {
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    TrainProblem problem = toy.problem();
    const GradientStep step = problem.step;
    int64_t steps = 0;
    problem.step = [&](const Batch& batch, const StepContext& at) {
      if (ranks.rank() == 1 && ++steps == 2) throw NumericalError("[toy] a factorisation failed");
      return step(batch, at);
    };
    EXPECT_THROW(train(problem, apart(3, 3), Stream(7), nullptr, {}), NumericalError);
    EXPECT_EQ(toy.seen.size(), ranks.rank() == 1 ? 1u : 3u);  // the failed rank rests
  });
  EXPECT_EQ(thrown, std::vector<std::string>(2, ""));
}

TEST(StepsApart, AverageTheBuffersThatABatchChanges) {
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    Toy toy;
    toy.ranks = &ranks;
    TrainProblem problem = toy.problem();
    at::Tensor last = at::zeros({1}, at::kDouble);
    problem.buffers = problem.batch_buffers = {last};
    const GradientStep step = problem.step;
    problem.step = [&](const Batch& batch, const StepContext& at) {
      EXPECT_EQ(at.share, 1);
      last.fill_(static_cast<double>(1 + ranks.rank()));
      return step(batch, at);
    };
    train(problem, apart(1, 2), Stream(7), nullptr, {});
    EXPECT_EQ(last.item<double>(), 1.5);
  });
  EXPECT_EQ(thrown, std::vector<std::string>(2, ""));
}

}  // namespace
}  // namespace slimbayes
