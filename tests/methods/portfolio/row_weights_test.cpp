// Row weights in the search of auto: a held-out row of weight w counts as w equal rows.
#include "slimbayes/method/row_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/core/random.h"
#include "slimbayes/methods/portfolio/candidate_race.h"
#include "slimbayes/methods/portfolio/log_pool.h"
#include "slimbayes/methods/portfolio/member_view.h"
#include "slimbayes/methods/portfolio/portfolio_weights.h"
#include "slimbayes/methods/portfolio/row_scale.h"
#include "slimbayes/methods/portfolio/search_rows.h"
#include "slimbayes/methods/portfolio/stacking.h"
#include "slimbayes/methods/portfolio/tempering.h"
#include "tests/methods/whole_weights.h"

namespace slimbayes {
namespace {

/// An answer of one Gaussian to n rows.
Regression gaussian_answer(const at::Tensor& mean, double var) {
  return {mean, at::full_like(mean, var), at::zeros_like(mean)};
}

Regression repeated_answer(const Regression& p, const at::Tensor& w) {
  return {repeated(p.mean, w), repeated(p.aleatoric_var, w), repeated(p.epistemic_var, w)};
}

Classes classes_answer(const at::Tensor& logits) {
  const at::Tensor p = at::softmax(logits, -1), entropy = -at::xlogy(p, p).sum(-1);
  return {p, entropy, 0.5 * entropy};
}

TEST(PortfolioRowWeights, OfStackingAreRepeatedRows) {
  const at::Tensor y = Stream(1).normal({90}), w = whole_weights(90);
  const at::Tensor p = -at::stack({regression_row_nll(gaussian_answer(at::zeros_like(y), 1), y),
                                   regression_row_nll(gaussian_answer(0.8 * y, 2), y)},
                                  1);
  const std::vector<double> a = stacking_weights(p, w), b = stacking_weights(repeated(p, w));
  for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(a[k], b[k], 1e-8);
  EXPECT_THROW(stacking_weights(p, w.slice(0, 1)), std::invalid_argument);
}

TEST(PortfolioRowWeights, OfTheLogPoolAreRepeatedRows) {
  const at::Tensor w = whole_weights(80), truth = Stream(1).normal({80, 3});
  const at::Tensor y = (truth + Stream(2).normal({80, 3})).argmax(1);
  const at::Tensor first = truth + 0.5 * Stream(3).normal({80, 3}),
                   second = truth + Stream(4).normal({80, 3});
  const auto a = log_pool_weights({classes_answer(first), classes_answer(second)}, y, w);
  const auto b = log_pool_weights({classes_answer(repeated(first, w)), classes_answer(repeated(second, w))},
                                  repeated(y, w));
  for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(a[k], b[k], 1e-6);
}

TEST(PortfolioRowWeights, OfTheTemperingAreRepeatedRows) {
  const at::Tensor w = whole_weights(300);
  at::Tensor y = Stream(1).normal({300});
  y.slice(0, 0, 300, 20).mul_(12);  // wild rows
  const Regression p = gaussian_answer(at::zeros_like(y), 0.5);
  for (const bool tails : {false, true}) {
    const Tempering a = fitted_tempering(p, y, tails, w);
    const Tempering b = fitted_tempering(repeated_answer(p, w), repeated(y, w), tails);
    EXPECT_NEAR(a.factor / b.factor, 1, 1e-4);
    EXPECT_NEAR(a.wild_share, b.wild_share, 1e-5);
    EXPECT_NEAR(a.wild_factor / b.wild_factor, 1, 1e-4);
    EXPECT_EQ(std::isinf(a.dof), std::isinf(b.dof));
    EXPECT_GT(std::abs(a.factor / fitted_tempering(p, y, tails).factor - 1), 1e-3);
  }
}

TEST(PortfolioRowWeights, OfThePowerAreRepeatedRows) {
  const at::Tensor w = whole_weights(200), truth = Stream(1).normal({200, 3});
  const at::Tensor y = (truth - (-Stream(2).uniform({200, 3}).log()).log()).argmax(1);
  const double a = fitted_power(classes_answer(2.5 * truth), y, w),
               b = fitted_power(classes_answer(2.5 * repeated(truth, w)), repeated(y, w));
  EXPECT_NEAR(a, b, 1e-4);
  EXPECT_LT(a, 0.8);
}

// The decision whether the factor differs by row rests on the effective number of rows, the weights of the
// features on the sum of the weights.
TEST(PortfolioRowWeights, OfTheRowScaleAreRepeatedRows) {
  const at::Tensor w = whole_weights(900), x = Stream(1).normal({900, 2});
  const at::Tensor score = (0.5 * x.select(1, 0)).exp() * Stream(2).normal({900});
  const at::Tensor part = at::floor_divide(at::arange(900), 3).remainder(5);
  const auto numbers = [](const at::Tensor& of) {
    const at::Tensor all = of.contiguous();
    return std::vector<int64_t>(all.const_data_ptr<int64_t>(), all.const_data_ptr<int64_t>() + all.numel());
  };
  const RowScale a = fitted_row_scale(score, x, numbers(part), w),
                 b = fitted_row_scale(repeated(score, w), repeated(x, w), numbers(repeated(part, w)));
  ASSERT_FALSE(a.constant());
  ASSERT_FALSE(b.constant());
  EXPECT_TRUE(at::allclose(a.centre, b.centre, 0, 1e-10));
  EXPECT_TRUE(at::allclose(a.spread, b.spread, 1e-10, 0));
  EXPECT_TRUE(at::allclose(a.weights, b.weights, 0, 1e-4));
  EXPECT_NEAR(a.low, b.low, 1e-4);
  EXPECT_NEAR(a.high, b.high, 1e-4);
}

TEST(PortfolioRowWeights, OfTheMixtureAreRepeatedRows) {
  // The quantiles of a normal distribution: as many lie outside their intervals as should.
  const at::Tensor y = std::sqrt(2.0) * at::erfinv(at::linspace(-0.99, 0.99, 120, at::kDouble)),
                   w = whole_weights(120);
  const std::vector<Regression> parts = {gaussian_answer(at::zeros_like(y), 1),
                                         gaussian_answer(0.4 * y + 0.3, 1)};
  std::vector<TriedCandidate> once(2), all(2);
  for (size_t i = 0; i < 2; ++i)
    once[i].candidate.method = all[i].candidate.method = i == 0 ? "ridge" : "dnn";
  for (size_t i = 0; i < 2; ++i) once[i].nll = all[i].nll = 1.4;
  const Weighting a = weigh(once, {parts[0], parts[1]}, y, false, w);
  const Weighting b =
      weigh(all, {repeated_answer(parts[0], w), repeated_answer(parts[1], w)}, repeated(y, w), false);
  EXPECT_NEAR(a.nll, b.nll, 1e-5);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(once[i].weight, all[i].weight, 1e-6);
    EXPECT_NEAR(once[i].tempering.factor / all[i].tempering.factor, 1, 1e-4);
  }
}

TEST(PortfolioRowWeights, OfTheLogTargetAreRepeatedRows) {
  Dataset rows = regression_data(Stream(1).normal({50, 2}), at::exp(0.5 * Stream(2).normal({50})) - 0.2);
  rows.schema.task.y_shift = 0.5;
  const at::Tensor w = whole_weights(50);
  const MemberView a = fitted_view(weighted(rows, w), true, TargetWarp::log),
                   b = fitted_view(repeated(rows, w), true, TargetWarp::log);
  EXPECT_NEAR(a.log_mean, b.log_mean, 1e-12);
  EXPECT_NEAR(a.log_sd, b.log_sd, 1e-12);
  EXPECT_NEAR(a.spare_sd, b.spare_sd, 1e-12);
  EXPECT_NEAR(a.seen_high, b.seen_high, 1e-12);
  // The rows that a member sees keep their weights.
  EXPECT_TRUE(at::equal(rows_in_view(a, weighted(rows, w)).weights(), w));
}

TEST(PortfolioRowWeights, AGainHasTheErrorOfTheEffectiveRows) {
  const at::Tensor with = Stream(1).normal({60}), zero = at::zeros_like(with);
  const at::Tensor w = whole_weights(60);
  const HeldOutGain gain = gain_of(zero, with, w);
  EXPECT_NEAR(gain.mean, -(with * w).sum().item<double>() / w.sum().item<double>(), 1e-12);
  const double n = w.sum().square().item<double>() / w.square().sum().item<double>();
  const double var = ((with + gain.mean).square() * w).sum().item<double>() / w.sum().item<double>();
  EXPECT_NEAR(gain.standard_error, std::sqrt(var / (n - 1)), 1e-12);
  EXPECT_LT(n, 60);
}

TEST(PortfolioRowWeights, AreInTheOrderOfTheHeldOutTargets) {
  const at::Tensor y = at::arange(40).to(at::kDouble);
  const Dataset rows = regression_data(Stream(1).normal({40, 2}), y);
  const SearchRows all = search_rows({weighted(rows, y + 1), {}}, 5, Stream(2));
  EXPECT_TRUE(at::equal(held_weights(all), held_targets(all) + 1));
  EXPECT_FALSE(held_weights(search_rows({rows, {}}, 5, Stream(2))).defined());
}

}  // namespace
}  // namespace slimbayes
