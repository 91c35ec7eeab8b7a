#include "slimbayes/method/head.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

TEST(Head, AnswersARegressionWithItsNoiseAndClassesWithLogits) {
  const at::Tensor outputs = Stream(1).normal({4, 1});
  const auto p = std::get<Regression>(Head{{.noise_var = 0.25}}.answer(outputs));
  EXPECT_TRUE(at::equal(p.mean, outputs.squeeze(1)));
  EXPECT_TRUE((p.aleatoric_var == 0.25).all().item<bool>());
  EXPECT_TRUE((p.epistemic_var == 0).all().item<bool>());
  const auto two = std::get<Classes>(Head{LikelihoodKind::bernoulli, 1}.answer(outputs));
  EXPECT_TRUE(at::allclose(two.probabilities.select(1, 1), at::sigmoid(outputs.squeeze(1))));
  const auto three = std::get<Classes>(Head{LikelihoodKind::softmax, 3}.answer(Stream(1).normal({4, 3})));
  EXPECT_EQ(three.probabilities.size(1), 3);
}

TEST(Head, LossIsTheSquaredErrorOrMinusTheLogProbability) {
  const at::Tensor y = at::tensor({1.0, 0.0, 1.0}, at::kDouble), one = Stream(2).normal({3, 1}),
                   two = Stream(2).normal({3, 2});
  EXPECT_TRUE(at::allclose(Head{}.loss(one, y), (one.squeeze(1) - y).square()));
  for (const auto& [head, outputs] : {std::pair(Head{LikelihoodKind::bernoulli, 1}, one),
                                      std::pair(Head{LikelihoodKind::softmax, 2}, two)}) {
    const auto p = std::get<Classes>(head.answer(outputs));
    const at::Tensor own = p.probabilities.gather(1, y.to(at::kLong).unsqueeze(1)).squeeze(1);
    EXPECT_TRUE(at::allclose(head.loss(outputs, y), -own.log(), 1e-12, 1e-12));
  }
}

// A smoothed label is a distribution, and the loss is linear in it.
TEST(Head, SmoothedLossIsTheMeanOverTheSmoothedLabel) {
  constexpr double kShare = 0.3;
  const at::Tensor y = at::tensor({1.0, 0.0, 1.0}, at::kDouble);
  for (const auto& [head, classes] :
       {std::pair(Head{LikelihoodKind::bernoulli, 1}, 2), std::pair(Head{LikelihoodKind::softmax, 4}, 4)}) {
    const at::Tensor outputs = Stream(2).normal({3, head.outputs});
    at::Tensor expected = (1 - kShare) * head.loss(outputs, y);
    for (int c = 0; c < classes; ++c)
      expected = expected + kShare / classes * head.loss(outputs, at::full_like(y, c));
    EXPECT_TRUE(at::allclose(head.loss(outputs, y, kShare), expected, 1e-12, 1e-12));
    EXPECT_TRUE(at::equal(head.loss(outputs, y, 0), head.loss(outputs, y)));
  }
}

TEST(Head, OfCountsIsAPoissonDistribution) {
  const Head head{LikelihoodKind::poisson, 1};
  const at::Tensor log_rate = Stream(2).normal({3, 1}), y = at::tensor({0.0, 2.0, 5.0}, at::kDouble);
  const at::Tensor rate = log_rate.squeeze(1).exp();
  const at::Tensor expected = rate - y * rate.log() + at::tensor({1.0, 2.0, 120.0}, at::kDouble).log();
  EXPECT_TRUE(at::allclose(head.loss(log_rate, y), expected, 1e-12, 1e-12));
  const auto counts = std::get<Counts>(head.answer(log_rate));
  EXPECT_TRUE(at::equal(counts.rate.log_mean, log_rate.squeeze(1)));
  EXPECT_TRUE((counts.rate.log_var == 0).all().item<bool>());
}

}  // namespace
}  // namespace slimbayes
