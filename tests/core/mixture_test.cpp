#include "slimbayes/core/mixture.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

at::Tensor row(std::vector<double> x) { return at::tensor(x, at::kDouble); }

TEST(Mixture, MomentsByHand) {
  Regression p =
      mixture({{row({1, 5}), row({2, 1}), row({0.5, 0}), 1}, {row({3, 5}), row({4, 3}), row({1.5, 0}), 2}});
  EXPECT_TRUE(at::equal(p.mean, row({2, 5})));
  EXPECT_TRUE(at::equal(p.aleatoric_var, row({3, 2})));
  EXPECT_TRUE(at::equal(p.epistemic_var, row({2, 0})));  // 1 + variance of {1, 3} = 1; no disagreement: 0
  EXPECT_EQ(p.zeroed, 3);
}

TEST(Mixture, OfOneOrOfEqualsIsItself) {
  Regression one{row({1, -2}), row({0.3, 2}), row({0.1, 0.7})};
  for (int parts : {1, 4}) {
    Regression p = mixture(std::vector<Regression>(static_cast<size_t>(parts), one));
    EXPECT_TRUE(at::allclose(p.mean, one.mean, 1e-15, 0));
    EXPECT_TRUE(at::allclose(p.aleatoric_var, one.aleatoric_var, 1e-15, 0));
    EXPECT_TRUE(at::allclose(p.epistemic_var, one.epistemic_var, 1e-15, 0));
  }
}

// The law of total variance, against draws: a part at random, then its Gaussian.
TEST(Mixture, TotalMomentsAreThoseOfDraws) {
  constexpr int64_t kDraws = 400000;
  at::Tensor mean = row({-1, 0.5, 2}), var = row({0.2, 1, 0.5});
  std::vector<Regression> parts;
  for (int i = 0; i < 3; ++i)
    parts.push_back({mean.narrow(0, i, 1), 0.75 * var.narrow(0, i, 1), 0.25 * var.narrow(0, i, 1)});
  at::Tensor part = (3 * Stream(1).uniform({kDraws})).floor().to(at::kLong);
  at::Tensor draws =
      mean.index_select(0, part) + var.sqrt().index_select(0, part) * Stream(2).normal({kDraws});
  Regression p = mixture(parts);
  EXPECT_NEAR(p.mean.item<double>(), draws.mean().item<double>(), 0.01);
  EXPECT_NEAR(total_var(p).item<double>(), draws.var().item<double>(), 0.02);
}

TEST(Mixture, LargeMeansKeepTheirDisagreement) {
  Regression p = mixture({{row({1e9}), row({1}), row({0})}, {row({1e9 + 1}), row({1}), row({0})}});
  EXPECT_DOUBLE_EQ(p.epistemic_var.item<double>(), 0.25);
}

TEST(Mixture, RefusesNoneAndUnequalParts) {
  EXPECT_THROW(mixture({}), std::invalid_argument);
  EXPECT_THROW(mixture({{row({1}), row({1}), row({1})}, {row({1, 2}), row({1, 2}), row({1, 2})}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
