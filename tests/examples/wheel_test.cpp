#include "examples/wheel.h"

#include <gtest/gtest.h>

#include <memory>

#include "experiments/wheel/rivals.h"

namespace wheel {
namespace {

const auto kIgnore = [](int64_t, const Result&) {};

/// Returns 200 pulls of random arms on a wheel with delta 0.5.
History some_pulls() {
  History history(200);
  const sb::Stream stream(3);
  const at::Tensor context = contexts(stream, 200), arm = at::arange(200).remainder(kArms);
  const at::Tensor reward = mean_rewards({}, context).gather(1, arm.unsqueeze(1)).squeeze(1);
  history.add(context, arm, reward + 0.01 * stream.split("noise").normal({200}), at::ones_like(reward));
  return history;
}

TEST(Wheel, OneArmIsGoodBeyondDelta) {
  const Wheel wheel{.delta = 0.7};
  const at::Tensor context = contexts(sb::Stream(1), 4000), mean = mean_rewards(wheel, context);
  double beyond = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    const double x = context[i][0].item<double>(), y = context[i][1].item<double>(), r = std::hypot(x, y);
    ASSERT_LE(r, 1);
    const int64_t good = (x > 0 ? 1 : 3) + (y > 0 ? 0 : 1);
    for (int64_t arm = 0; arm < kArms; ++arm) {
      const double expected = r > wheel.delta && arm == good ? 50 : arm == 0 ? 1.2 : 1;
      ASSERT_EQ(mean[i][arm].item<double>(), expected) << x << ' ' << y;
    }
    beyond += r > wheel.delta;
  }
  EXPECT_NEAR(beyond / 4000, 1 - 0.49, 0.03);  // the disk is covered uniformly; sd 0.008
}

TEST(Wheel, RandomArmsHaveTheRegretOfTheFormula) {
  UniformPolicy policy;
  const Game game{.wheel = {.delta = 0.9}, .phases = 500, .seed = 5};
  const Result result = play(game, policy, kIgnore);
  EXPECT_EQ(result.pulls, 15 + 500 * 20);
  const double inside = 0.8 * 0.2, beyond = (48.8 + 3 * 49) / 5;  // regret of a random arm
  EXPECT_NEAR(result.uniform_regret / static_cast<double>(result.pulls), 0.81 * inside + 0.19 * beyond, 0.5);
  EXPECT_NEAR(result.percent(), 100, 5);
}

TEST(Wheel, AGameIsAFunctionOfItsSeed) {
  const auto regret = [](uint64_t seed) {
    LastLayerPolicy policy({.subsample = 128}, sb::Stream(seed));
    return play({.phases = 10, .gradient_steps = 5, .seed = seed}, policy, kIgnore).regret;
  };
  EXPECT_EQ(regret(1), regret(1));
  EXPECT_NE(regret(1), regret(2));
}

TEST(LastLayerPolicy, LearnsWhichArmIsGood) {
  LastLayerPolicy policy({.subsample = 512}, sb::Stream(0));
  const Result result = play({.phases = 40}, policy, kIgnore);
  EXPECT_LT(result.percent(), 50);
}

// R theorem 3.3: with the same network and noise. The same stream draws the same normal numbers, so that the
// distances from the mean are to each other as the standard deviations.
TEST(LastLayerPolicy, RichBllIsNeverMoreCertainThanBll) {
  const History history = some_pulls();
  LastLayerPolicy rich({.enriched = true}, sb::Stream(4)), plain({.enriched = false}, sb::Stream(4));
  for (LastLayerPolicy* policy : {&rich, &plain}) policy->learn(history, 20, sb::Stream(6));
  const at::Tensor places = contexts(sb::Stream(7), 100);
  const Beliefs a = rich.beliefs(places, sb::Stream(8)), b = plain.beliefs(places, sb::Stream(8));
  EXPECT_TRUE(at::equal(a.mean, b.mean));
  const at::Tensor ratio = (a.draw - a.mean) / (b.draw - b.mean);
  EXPECT_GE(ratio.min().item<double>(), 1 - 1e-9);
  EXPECT_GT(ratio.max().item<double>(), 1.1);
}

TEST(LastLayerPolicy, RefusesASubsampleBelowTheRank) {
  EXPECT_THROW(LastLayerPolicy({.subsample = 50}, sb::Stream(0)), std::invalid_argument);
}

TEST(ConjugatePosterior, IsTheNormalInverseGammaOfTheFormulas) {
  const at::Tensor x = sb::Stream(1).normal({30, 4}), y = sb::Stream(2).normal({30});
  const ConjugatePosterior p =
      conjugate_posterior(sb::added(sb::linear_statistics(4), {x, y, {}}), {6, 5, 0.25});
  const at::Tensor precision = x.t().mm(x) + 0.25 * at::eye(4, at::kDouble), cov = at::inverse(precision);
  const at::Tensor w = cov.mv(x.t().mv(y));
  EXPECT_TRUE(at::allclose(p.weights.weights, w, 1e-10, 1e-12));
  EXPECT_EQ(p.a, 6 + 15);
  EXPECT_NEAR(p.b, 5 + 0.5 * (y.dot(y) - w.dot(precision.mv(w))).item<double>(), 1e-10);
  EXPECT_TRUE(at::allclose(sb::epistemic_var(p.weights, at::eye(4, at::kDouble)), cov.diagonal(), 1e-10));
}

TEST(ConjugatePosterior, DrawsTheNoiseVariance) {
  const at::Tensor draws = inverse_gamma(6, 10, sb::Stream(1).uniform({20000}));
  EXPECT_NEAR(draws.mean().item<double>(), 10.0 / 5, 0.03);
  EXPECT_NEAR(draws.var().item<double>(), 10.0 * 10 / (25 * 4), 0.1);
}

TEST(VbllPolicy, TheLossByArmsIsThatOfAllHeadsAtOnce) {
  const History history = some_pulls();
  VbllPolicy policy({}, sb::Stream(4));
  policy.learn(history, 10, sb::Stream(5));
  const at::NoGradGuard no_grad;
  const at::Tensor mine = policy.loss(history.inputs(), history.arm(), history.reward(), 200);
  const sb::Latent all = policy.heads().latent(policy.features(history.inputs()), at::zeros({kArms}));
  const at::Tensor arm = history.arm().unsqueeze(1);
  const sb::GaussianLikelihood likelihood{at::full({}, policy.noise_var(), at::kFloat)};
  const at::Tensor whole =
      sb::variational_bound(likelihood, {all.mean.gather(1, arm), all.epistemic_var.gather(1, arm)},
                            history.reward(), {policy.heads(), 200})
          .total;
  EXPECT_NEAR(mine.item<double>() / whole.item<double>(), 1, 1e-5);
}

TEST(Rivals, EveryPolicyPlaysAndIsFinite) {
  const sb::Stream stream(0);
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::make_unique<LinDiagPolicy>(kDefaultPrior));
  policies.push_back(std::make_unique<NeuralLinearPolicy>(kMushroomPrior, TrainingOptions{}, stream));
  policies.push_back(std::make_unique<VbllPolicy>(TrainingOptions{}, stream));
  for (const auto& policy : policies) {
    const Result result = play({.phases = 30, .gradient_steps = 20}, *policy, kIgnore);
    EXPECT_GT(result.regret, 0);
    EXPECT_LT(result.percent(), 90);
    const Beliefs beliefs = policy->beliefs(contexts(stream, 10), stream);
    EXPECT_TRUE(beliefs.draw.isfinite().all().item<bool>());
  }
}

}  // namespace
}  // namespace wheel
