#include "slimbayes/train/trainer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "slimbayes/core/check.h"
#include "slimbayes/train/adamw.h"

namespace slimbayes {
namespace {

/// A least-squares problem in two parameters. `seen` records the rows of every step.
struct Toy {
  at::Tensor x = Stream(1).normal({50, 2}), y = at::mv(x, at::tensor({1.5, -2.0}, at::kDouble));
  at::Tensor value = at::zeros({2}, at::kDouble), grad = at::zeros({2}, at::kDouble);
  std::vector<std::vector<int64_t>> seen;
  std::function<double()> validate = [this] { return (at::mv(x, value) - y).square().mean().item<double>(); };

  TrainProblem problem() {
    TrainProblem p;
    p.groups = {{"all", value, grad, 0.05, 0}};
    p.rows = 50;
    p.validate = validate;
    p.source = std::make_shared<TensorSource>(Batch{{x, at::arange(50)}, y});
    p.step = [this](const Batch& batch, const StepContext&) {
      const at::Tensor &xb = batch.inputs[0], &rows = batch.inputs[1],
                       error = at::mv(xb, value) - batch.target;
      grad.add_(at::mv(xb.t(), error) * (2.0 / static_cast<double>(rows.size(0))));
      seen.emplace_back(rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.size(0));
      double loss = error.square().mean().item<double>();
      return loss;
    };
    return p;
  }
  Summary fit(const TrainingOptions& options, Callback* callback = nullptr,
              const CheckpointPolicy& policy = {}) {
    TrainProblem p = problem();
    return train(p, options, Stream(7), callback, policy);
  }
};

TrainingOptions few_epochs(int64_t epochs) {
  TrainingOptions options;
  options.epochs = epochs;
  options.batch = 16;
  return options;
}

struct StopAt : Callback {
  int64_t left;
  explicit StopAt(int64_t steps) : left(steps) {}
  bool stop() override { return left-- <= 0; }
};

std::filesystem::path scratch(const std::string& name) {
  std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove(path);
  return path;
}

TEST(Train, FindsTheLeastSquaresSolution) {
  Toy toy;
  Summary summary = toy.fit(few_epochs(200));
  EXPECT_NEAR(toy.value[0].item<double>(), 1.5, 1e-3);
  EXPECT_NEAR(toy.value[1].item<double>(), -2.0, 1e-3);
  EXPECT_EQ(summary.steps, 800);
  EXPECT_EQ(summary.stopped, Stopped::budget);
}

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

TEST(Train, WithoutValidationKeepsTheLastParameters) {
  Toy toy;
  toy.validate = nullptr;
  Summary summary = toy.fit(few_epochs(200));
  EXPECT_NEAR(toy.value[0].item<double>(), 1.5, 1e-3);
  EXPECT_EQ(summary.best_epoch, 0);
  EXPECT_NE(to_json(summary).dump().find("\"best_score\":null"), std::string::npos);
}

TEST(Train, TimeLimitEndsTheFit) {
  Toy toy;
  TrainingOptions options = few_epochs(10000000);
  options.time_limit = 0.05;
  EXPECT_EQ(toy.fit(options).stopped, Stopped::time);
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

TEST(Train, ClipsTheGradientOfAllGroupsTogether) {
  at::Tensor value = at::zeros({2}, at::kDouble), grad = at::zeros({2}, at::kDouble),
             other = at::zeros({1}, at::kDouble), other_grad = at::zeros({1}, at::kDouble);
  std::vector<double> norms;
  TrainProblem p;
  p.groups = {{"a", value, grad, 0, 0}, {"b", other, other_grad, 0, 0}};
  p.rows = 4;
  p.step = [&](const Batch&, const StepContext& at) {
    grad.copy_(at::tensor({2., 4.}, at::kDouble) * (at.step + 1));  // with the other: norm 6 (step + 1)
    other_grad.fill_(4. * (at.step + 1));
    return 1.0;
  };
  p.after_epoch = [&](const StepContext&) {
    norms.push_back(std::sqrt((grad.square().sum() + other_grad.square().sum()).item<double>()));
    EXPECT_NEAR((grad[1] / other_grad[0]).item<double>(), 1, 1e-12);  // the direction stays
  };
  TrainingOptions options = few_epochs(3);
  options.clip_norm = 9;
  train(p, options, Stream(7), nullptr, {});
  ASSERT_EQ(norms.size(), 3u);
  EXPECT_NEAR(norms[0], 6, 1e-12);
  EXPECT_NEAR(norms[1], 9, 1e-12);
  EXPECT_NEAR(norms[2], 9, 1e-12);
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
    for (const at::Tensor& rows : context.batches)
      announced.emplace_back(rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.size(0));
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

// The rate of "plateau" depends on the scores, which a checkpoint keeps.
TEST(Train, APlateauHalvesTheRateAlsoAfterAResume) {
  TrainingOptions options = few_epochs(16);
  options.schedule = "plateau";
  options.patience = 0;
  const auto worse = [n = 0.0]() mutable { return n += 1; };
  Toy whole, cut;
  whole.validate = worse;
  whole.fit(options);
  const CheckpointPolicy policy{scratch("plateau.ckpt"), true, "f", 0};
  StopAt callback(42);
  cut.validate = worse;
  cut.fit(options, &callback, policy);
  cut.fit(options, nullptr, policy);
  EXPECT_TRUE(at::equal(whole.value, cut.value));
  Toy constant;
  options.schedule = "constant";
  constant.validate = [n = 0.0]() mutable { return n -= 1; };
  Toy falling;
  falling.validate = [n = 0.0]() mutable { return n -= 1; };
  constant.fit(options);
  options.schedule = "plateau";
  falling.fit(options);
  EXPECT_TRUE(at::equal(constant.value, falling.value));
}

TEST(AdamW, EqualsItsFormula) {
  at::Tensor value = at::tensor({1.0, -2.0}, at::kDouble), grad = at::zeros({2}, at::kDouble);
  AdamW optimiser({{"g", value, grad, 0.1, 0.2}});
  double w = 1, m = 0, v = 0;
  for (int t = 1; t <= 3; ++t) {
    optimiser.zero_grad();
    grad.add_(value);  // the gradient of value^2 / 2
    double g = w;
    optimiser.step(0.5);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    w -= 0.05 * 0.2 * w;
    w -= 0.05 * m / (1 - std::pow(0.9, t)) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    EXPECT_NEAR(value[0].item<double>(), w, 1e-12);
  }
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
