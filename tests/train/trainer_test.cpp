#include "slimbayes/train/trainer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "slimbayes/core/check.h"
#include "tests/train/toy.h"

namespace slimbayes {
namespace {

TEST(Train, FindsTheLeastSquaresSolution) {
  Toy toy;
  Summary summary = toy.fit(few_epochs(200));
  EXPECT_NEAR(toy.value[0].item<double>(), 1.5, 1e-3);
  EXPECT_NEAR(toy.value[1].item<double>(), -2.0, 1e-3);
  EXPECT_EQ(summary.steps, 800);
  EXPECT_EQ(summary.stopped, Stopped::budget);
}

TEST(Train, ResumedAfterAnyStepEndsInTheSameBits) {
  Toy whole;
  Summary expected = whole.fit(few_epochs(6));
  std::filesystem::path path = scratch("resume.ckpt");
  for (int64_t stop : {0, 1, 3, 4, 9, 17, 23}) {
    std::filesystem::remove(path);
    Toy cut;
    StopAt callback(stop);
    CheckpointPolicy policy{path, false, "f", 0};
    EXPECT_EQ(cut.fit(few_epochs(6), &callback, policy).stopped, Stopped::interrupted);
    Toy rest;
    policy.resume = true;
    Summary summary = rest.fit(few_epochs(6), nullptr, policy);
    EXPECT_TRUE(at::equal(rest.value, whole.value)) << stop;
    EXPECT_EQ(summary.best_score, expected.best_score);
    EXPECT_EQ(summary.steps, expected.steps);
    EXPECT_EQ(rest.seen.size(), 24u - static_cast<size_t>(stop)) << "no step runs again";
  }
}

/// A validation whose third score is the best one.
struct BestInTheMiddle : Toy {
  int64_t calls = 0;
  BestInTheMiddle() {
    validate = [this] { return ++calls == 3 ? 1.0 : 2.0; };
  }
};

TEST(Train, KeepsTheLastParametersWhereThatIsAskedFor) {
  Toy plain;
  plain.validate = {};  // keeps the last parameters as well
  plain.fit(few_epochs(6));
  BestInTheMiddle best, last;
  EXPECT_EQ(best.fit(few_epochs(6)).best_epoch, 3);
  TrainingOptions options = few_epochs(6);
  options.select_by = "last";
  const Summary summary = last.fit(options);
  EXPECT_EQ(summary.best_epoch, 6);
  EXPECT_EQ(summary.best_score, 2);
  EXPECT_TRUE(at::equal(last.value, plain.value));
  EXPECT_FALSE(at::equal(best.value, plain.value));
  ASSERT_EQ(summary.notes.size(), 1u);
  EXPECT_EQ(summary.notes[0],
            "the last parameters are kept (`.select_by=last`); the best standardised validation NLL was 1, "
            "in epoch 3");
  BestInTheMiddle cut;  // the caller stops it in epoch 5
  StopAt after(18);
  const Summary interrupted = cut.fit(options, &after);
  EXPECT_EQ(interrupted.best_epoch, 4);
  EXPECT_EQ(interrupted.best_score, 2);
  EXPECT_EQ(cut.seen.size(), 18u);
  BestInTheMiddle early;
  StopAt at_once(3);
  EXPECT_TRUE(std::isnan(early.fit(options, &at_once).best_score));  // no score, no model in place of another
  Toy never;
  never.validate = [] { return std::nan(""); };
  EXPECT_THROW(never.fit(options), NumericalError);
}

TEST(Train, TakesDenormalNumbersForZero) {
  if (!at::globalContext().setFlushDenormal(true)) GTEST_SKIP() << "the processor has no such setting";
  at::globalContext().setFlushDenormal(false);
  const auto denormal = [] { return (at::full({4}, 1e-30F) * 1e-10F).max().item<double>(); };
  Toy toy;
  double within = 1;
  toy.validate = [&] { return within = denormal(); };
  toy.fit(few_epochs(1));
  EXPECT_EQ(within, 0);
  EXPECT_GT(denormal(), 0);  // the caller's arithmetic is as before
}

TEST(Train, AFitThatIsStoppedBeforeItsFirstValidationHasNoScore) {
  Toy toy;
  StopAt callback(3);
  const Summary summary = toy.fit(few_epochs(6), &callback);
  EXPECT_EQ(summary.stopped, Stopped::interrupted);
  EXPECT_EQ(summary.steps, 3);
  EXPECT_EQ(summary.epochs, 0);
  EXPECT_TRUE(std::isnan(summary.best_score));
}

TEST(Train, ACheckpointThatCannotBeWrittenIsANote) {
  struct Notes : Callback {
    std::vector<std::string> all;
    void note(const std::string& sentence) override { all.push_back(sentence); }
  };
  Notes notes;
  Toy whole, toy;
  whole.fit(few_epochs(2));
  EXPECT_EQ(toy.fit(few_epochs(2), &notes, {scratch("absent") / "m.ckpt", false, "f", 0}).stopped,
            Stopped::budget);
  EXPECT_TRUE(at::equal(toy.value, whole.value));
  ASSERT_FALSE(notes.all.empty());
  EXPECT_NE(notes.all[0].find("the fit goes on and tries again later"), std::string::npos) << notes.all[0];
}

TEST(Train, KeepsTheBestParametersAndStopsByPatience) {
  Toy toy;
  int round = 0;
  at::Tensor at_best;
  toy.validate = [&] {
    if (++round == 3) at_best = toy.value.clone();
    return round == 3 ? 0.0 : 1.0 + round;
  };
  TrainingOptions options = few_epochs(30);
  options.patience = 4;
  Summary summary = toy.fit(options);
  EXPECT_EQ(summary.stopped, Stopped::patience);
  EXPECT_EQ(summary.best_epoch, 3);
  EXPECT_EQ(summary.epochs, 7);
  EXPECT_TRUE(at::equal(toy.value, at_best));
}

/// Returns the number of epochs that a fit of at most 100 makes if epoch i has the validation score score(i).
int64_t epochs_of(const std::function<double(int)>& score, int64_t patience = 40) {
  Toy toy;
  int round = 0;
  toy.validate = [&] { return score(++round); };
  TrainingOptions options = few_epochs(100);
  options.patience = patience;
  const Summary summary = toy.fit(options);
  EXPECT_EQ(summary.stopped, summary.epochs < 100 ? Stopped::patience : Stopped::budget);
  return summary.epochs;
}

TEST(Train, AScoreThatRisesSteadilySpendsPatienceEarlier) {
  const auto wiggle = [](int round) { return 0.3 * std::sin(2.0 * round); };
  const auto overfitting = [&](int round) { return std::abs(round - 10) + (round > 10 ? wiggle(round) : 0); };
  EXPECT_EQ(epochs_of(overfitting), 10 + 30);
  EXPECT_EQ(epochs_of(overfitting, 80), 10 + 60);
  EXPECT_EQ(epochs_of(overfitting, 39), 10 + 39);  // strips of 4 rounds are too short
  EXPECT_EQ(epochs_of([&](int round) { return round <= 10 ? -round : wiggle(round); }), 10 + 40);  // no rise
  // A rise of 25 rounds is shorter than the criterion needs, so the fit goes on and finds the later best
  // score.
  const auto turning = [](int round) {
    if (round <= 10) return -1.0 * round;
    return round <= 35 ? round - 10.0 : 25 - 4.0 * (round - 35);
  };
  EXPECT_EQ(epochs_of(turning), 100);
}

TEST(Train, AFitThatARiseEndedStaysEndedWhenResumed) {
  const std::filesystem::path path = scratch("rise.ckpt");
  int round = 0;
  for (bool resume : {false, true}) {
    Toy toy;
    toy.validate = [&] { return 1.0 + ++round; };
    TrainingOptions options = few_epochs(60);
    options.patience = 40;
    EXPECT_EQ(toy.fit(options, nullptr, {path, resume, "f", 0}).epochs, 31);
    EXPECT_EQ(toy.seen.size(), resume ? 0u : 124u);
  }
  // If the fit is stopped in the middle of the rise, the resumed fit knows the scores so far.
  std::filesystem::remove(path);
  round = 0;
  for (int64_t steps : {40, 1000}) {
    Toy toy;
    toy.validate = [&] { return 1.0 + ++round; };
    TrainingOptions options = few_epochs(60);
    options.patience = 40;
    StopAt callback(steps);
    EXPECT_EQ(toy.fit(options, &callback, {path, steps > 40, "f", 0}).epochs, steps > 40 ? 31 : 10);
  }
}

TEST(Train, AFitThatPatienceEndedStaysEndedWhenResumed) {
  std::filesystem::path path = scratch("patience.ckpt");
  TrainingOptions options = few_epochs(30);
  options.patience = 4;
  for (bool resume : {false, true}) {
    Toy toy;
    int round = 0;
    toy.validate = [&] { return 1.0 + ++round; };
    Summary summary = toy.fit(options, nullptr, {path, resume, "f", 0});
    EXPECT_EQ(summary.epochs, 5);
    EXPECT_EQ(toy.seen.size(), resume ? 0u : 20u);
  }
}

TEST(Train, RefusesTheCheckpointOfAnotherFit) {
  std::filesystem::path path = scratch("other.ckpt");
  Toy toy;
  toy.fit(few_epochs(1), nullptr, {path, false, "one", 0});
  EXPECT_THROW(toy.fit(few_epochs(1), nullptr, {path, true, "another", 0}), std::invalid_argument);
}

TEST(Train, ALossThatIsNotFiniteIsANumericalError) {
  Toy toy;
  toy.y[3] = std::nan("");
  EXPECT_THROW(toy.fit(few_epochs(1)), NumericalError);
}

TEST(Train, TimeLimitEndsTheFit) {
  Toy toy;
  TrainingOptions options = few_epochs(10000000);
  options.time_limit = 0.05;
  EXPECT_EQ(toy.fit(options).stopped, Stopped::time);
}

TEST(Train, AFailureAfterTheFirstRoundsKeepsTheBest) {
  Toy toy;
  auto score = toy.validate;
  int rounds = 0;
  at::Tensor best;
  toy.validate = [&] {
    if (++rounds == 2) best = toy.value.clone();
    if (rounds == 4) toy.y[3] = std::nan("");
    return rounds < 3 ? score() : 1e9;
  };
  Summary summary = toy.fit(few_epochs(50));
  EXPECT_EQ(summary.stopped, Stopped::failure);
  EXPECT_EQ(summary.best_epoch, 2);
  ASSERT_EQ(summary.notes.size(), 1u);
  EXPECT_NE(summary.notes[0].find(
                "the best parameters so far are kept: [train] expected a finite loss; received nan"),
            std::string::npos);
  EXPECT_TRUE(at::equal(toy.value, best));
}

}  // namespace
}  // namespace slimbayes
