#include "slimbayes/methods/weight_space/running_mixture.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

constexpr int64_t kMixedRows = 7;

std::vector<Predictive> answers(int64_t count, bool classes, double shift = 0) {
  std::vector<Predictive> all;
  for (int64_t s = 0; s < count; ++s) {
    const Stream stream = Stream(3).split(static_cast<uint64_t>(s));
    if (classes) {
      all.emplace_back(classes_of_logits(stream.normal({kMixedRows, 3})));
    } else {
      all.emplace_back(Regression{shift + stream.normal({kMixedRows}),
                                  stream.split("a").uniform({kMixedRows}),
                                  stream.split("e").uniform({kMixedRows})});
    }
  }
  return all;
}

// Regression, classes and counts: S answers one after the other have the mixture of the S answers.
TEST(MixtureOfDraws, IsTheMixtureOfTheAnswersOneAfterTheOther) {
  std::vector<std::vector<Predictive>> tasks = {answers(5, false), answers(5, true), {}};
  for (uint64_t s = 0; s < 5; ++s)
    tasks[2].emplace_back(
        Counts{{Stream(8).split(s).normal({kMixedRows}), at::zeros({kMixedRows}, at::kDouble)}});
  for (const std::vector<Predictive>& all : tasks) {
    RunningMixture running;
    for (const Predictive& one : all) running.add(one);
    const Predictive found = mixture_of_draws(concatenated(all), 5), expected = running.mixture();
    const auto close = [](const at::Tensor& a, const at::Tensor& b) {
      return at::allclose(a, b, 1e-10, 1e-12);
    };
    if (const auto* p = std::get_if<Regression>(&found)) {
      const auto& q = std::get<Regression>(expected);
      EXPECT_TRUE(close(p->mean, q.mean) && close(p->aleatoric_var, q.aleatoric_var));
      EXPECT_TRUE(close(p->epistemic_var, q.epistemic_var));
    } else if (const auto* classes = std::get_if<Classes>(&found)) {
      const auto& q = std::get<Classes>(expected);
      EXPECT_TRUE(close(classes->probabilities, q.probabilities));
      EXPECT_TRUE(close(classes->predictive_entropy, q.predictive_entropy));
      EXPECT_TRUE(close(classes->expected_entropy, q.expected_entropy));
    } else {
      const auto &p = std::get<Counts>(found).rate, &q = std::get<Counts>(expected).rate;
      EXPECT_TRUE(close(p.log_mean, q.log_mean) && close(p.log_var, q.log_var));
    }
  }
}

TEST(RunningMixture, IsTheMixtureOfAllAnswers) {
  for (int64_t count : {1, 2, 5, 16, 17, 100}) {
    for (bool classes : {false, true}) {
      const std::vector<Predictive> all = answers(count, classes);
      RunningMixture running;
      for (const Predictive& one : all) running.add(one);
      const Predictive expected = mixture(all), found = running.mixture();
      if (classes) {
        const auto &p = std::get<Classes>(found), &q = std::get<Classes>(expected);
        EXPECT_TRUE(at::allclose(p.probabilities, q.probabilities, 1e-13, 0));
        EXPECT_TRUE(at::allclose(p.predictive_entropy, q.predictive_entropy, 1e-13, 0));
        EXPECT_TRUE(at::allclose(p.expected_entropy, q.expected_entropy, 1e-13, 0));
      } else {
        const auto &p = std::get<Regression>(found), &q = std::get<Regression>(expected);
        EXPECT_TRUE(at::allclose(p.mean, q.mean, 1e-13, 1e-15));
        EXPECT_TRUE(at::allclose(p.aleatoric_var, q.aleatoric_var, 1e-13, 0));
        EXPECT_TRUE(at::allclose(p.epistemic_var, q.epistemic_var, 1e-12, 0));
      }
    }
  }
}

TEST(RunningMixture, OfCountsHasTheMeanAndTheVarianceOfTheRates) {
  for (double shift : {0.0, 600.0}) {  // rates of e^600 have squares that overflow
    std::vector<Predictive> all;
    RunningMixture running;
    for (uint64_t s = 0; s < 50; ++s) {
      const at::Tensor log_rate = shift + 0.3 * Stream(3).split(s).normal({kMixedRows});
      all.emplace_back(Counts{{log_rate, at::zeros_like(log_rate)}});
      running.add(all.back());
    }
    const auto p = std::get<Counts>(running.mixture()), q = std::get<Counts>(mixture(all));
    EXPECT_TRUE(at::allclose(p.rate.log_mean, q.rate.log_mean, 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(p.rate.log_var, q.rate.log_var, 1e-10, 1e-12));
  }
}

// Sums of squares would lose the variance of answers that are far from 0.
TEST(RunningMixture, KeepsASmallSpreadFarFromZero) {
  RunningMixture running;
  for (const Predictive& one : answers(64, false, 1e8)) running.add(one);
  const auto far = std::get<Regression>(running.mixture());
  const auto exact = std::get<Regression>(mixture(answers(64, false)));
  EXPECT_TRUE(at::allclose(far.epistemic_var, exact.epistemic_var, 1e-6, 0));
}

TEST(RunningMixture, OfEqualAnswersHasNoSpread) {
  RunningMixture running;
  const at::Tensor one = at::full({kMixedRows}, 0.1, at::kDouble), zero = at::zeros_like(one);
  for (int i = 0; i < 30; ++i) running.add(Regression{one, one, zero});
  EXPECT_EQ(std::get<Regression>(running.mixture()).epistemic_var.abs().max().item<double>(), 0);
  EXPECT_THROW(running.add(classes_of_logits(Stream(1).normal({kMixedRows, 2}))), std::logic_error);
  EXPECT_THROW(RunningMixture().mixture(), std::logic_error);
}

}  // namespace
}  // namespace slimbayes
