#include "slimbayes/methods/portfolio/log_pool.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/random.h"
#include "slimbayes/methods/portfolio/tempering.h"

namespace slimbayes {
namespace {

/// An answer with these logits [n, C], half of whose entropy is expected.
Classes pool_part(const at::Tensor& logits) {
  const at::Tensor p = at::softmax(logits, -1), entropy = -at::xlogy(p, p).sum(-1);
  return {p, entropy, 0.5 * entropy};
}

double mean_nll(const Classes& p, const at::Tensor& y) {
  return row_nll(Predictive(p), y).mean().item<double>();
}

TEST(LogPool, TheLogitsOfThePoolAreTheWeightedSum) {
  const at::Tensor a = Stream(1).normal({6, 3}), b = Stream(2).normal({6, 3});
  const Classes pool = log_pool({pool_part(a), pool_part(b)}, {0.7, 1.6});
  EXPECT_TRUE(at::allclose(pool.probabilities, at::softmax(0.7 * a + 1.6 * b, -1), 1e-12, 1e-14));
  const at::Tensor entropy = -at::xlogy(pool.probabilities, pool.probabilities).sum(-1);
  EXPECT_TRUE(at::allclose(pool.predictive_entropy, entropy, 1e-12, 1e-14));
  EXPECT_TRUE((pool.expected_entropy <= pool.predictive_entropy).all().item<bool>());
}

// An answer that rules a class out does not decide alone.
TEST(LogPool, AProbabilityOfZeroIsNoVeto) {
  Classes never = pool_part(at::zeros({1, 2}, at::kDouble)), sure = never;
  never.probabilities = at::tensor({1.0, 0.0}, at::kDouble).unsqueeze(0);
  sure.probabilities = at::tensor({1e-12, 1 - 1e-12}, at::kDouble).unsqueeze(0);
  const Classes pool = log_pool({never, sure}, {0.5, 1.5});
  EXPECT_GT(pool.probabilities[0][1].item<double>(), 0.99);
  EXPECT_TRUE(at::isfinite(pool.expected_entropy).all().item<bool>());
}

TEST(LogPool, OneAnswerIsRaisedToItsWeight) {
  const Classes part = pool_part(Stream(1).normal({5, 4}));
  EXPECT_TRUE(
      at::allclose(log_pool({part}, {2.5}).probabilities, tempered(part, 2.5).probabilities, 1e-10, 1e-14));
}

// Classes drawn from the pool of two answers with the weights .4 and 1.1, and a third that says nothing.
TEST(LogPoolWeights, AreThoseThatTheClassesWereDrawnWith) {
  constexpr int64_t kRows = 20000;
  const at::Tensor a = 2 * Stream(1).normal({kRows, 3}), b = 2 * Stream(2).normal({kRows, 3});
  const at::Tensor noise =
      -(-Stream(4).uniform({kRows, 3}).log()).log();  // Gumbel's: the largest sum is a draw
  const at::Tensor y = (0.4 * a + 1.1 * b + noise).argmax(1);
  const Classes nothing = pool_part(at::zeros({kRows, 3}, at::kDouble));
  const auto w = log_pool_weights({pool_part(a), pool_part(b), nothing}, y);
  EXPECT_NEAR(w[0], 0.4, 0.05);
  EXPECT_NEAR(w[1], 1.1, 0.05);
  EXPECT_NEAR(w[2], 1.0 / 3, 1e-6);  // the prior alone
}

TEST(LogPoolWeights, HaveTheLeastNegativeLogPosterior) {
  const at::Tensor y = Stream(3).uniform({60}).mul(3).floor();
  std::vector<Classes> parts;
  for (const uint64_t seed : {5, 6, 7}) {
    at::Tensor logits = Stream(seed).normal({60, 3});
    logits.scatter_add_(1, y.to(at::kLong).unsqueeze(1),
                        at::full({60, 1}, seed == 7 ? -2.0 : 1.0, at::kDouble));
    parts.push_back(pool_part(logits));
  }
  const auto w = log_pool_weights(parts, y);
  EXPECT_EQ(w[2], 0);  // it is wrong: the others are better without it
  const auto value = [&](std::vector<double> at) {
    double prior = 0;
    for (const double each : at) prior += 0.5 * (each - 1.0 / 3) * (each - 1.0 / 3);
    return 60 * mean_nll(log_pool(parts, at), y) + prior;
  };
  const double tiny = 1e-12, least = value({w[0], w[1], tiny});  // a pool takes no weight of 0
  for (const double by : {-0.01, 0.01}) {
    EXPECT_GT(value({w[0] + by, w[1], tiny}), least);
    EXPECT_GT(value({w[0], w[1] + by, tiny}), least);
  }
  EXPECT_GT(value({w[0], w[1], 0.01}), least);
}

// Without the prior the weights of answers that are always right would grow for ever.
TEST(LogPoolWeights, StayFiniteWhereEveryAnswerIsRight) {
  const at::Tensor y = at::arange(50).remainder(2);
  const at::Tensor right = 2.0 * at::one_hot(y, 2).to(at::kDouble);
  const auto w = log_pool_weights({pool_part(right), pool_part(right)}, y);
  EXPECT_GT(w[0] + w[1], 1);
  EXPECT_LT(w[0] + w[1], 10);
  EXPECT_NEAR(w[0], w[1], 1e-9);
}

TEST(LogPoolWeights, RefuseWhatIsNoPool) {
  const Classes two = pool_part(at::zeros({4, 2}, at::kDouble)),
                three = pool_part(at::zeros({4, 3}, at::kDouble));
  const at::Tensor y = at::zeros({4}, at::kDouble);
  EXPECT_THROW(log_pool_weights({}, y), std::invalid_argument);
  EXPECT_THROW(log_pool_weights({two, three}, y), std::invalid_argument);
  EXPECT_THROW(log_pool_weights({two}, y + 2), std::invalid_argument);
  EXPECT_THROW(log_pool_weights({two}, at::zeros({3}, at::kDouble)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
