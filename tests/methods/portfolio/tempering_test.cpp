#include "slimbayes/methods/portfolio/tempering.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

constexpr double kGaussian = std::numeric_limits<double>::infinity();

Regression standard(int64_t n) {
  return {at::zeros({n}, at::kDouble), at::ones({n}, at::kDouble), at::zeros({n}, at::kDouble)};
}

TEST(Tempering, HasTheVarianceAndTheTails) {
  const Regression p{row({1}), row({4}), row({2})}, q = tempered(p, {0.5, 3});
  EXPECT_NEAR(q.aleatoric_var.item<double>(), 2, 1e-14);
  EXPECT_NEAR(q.epistemic_var.item<double>(), 1, 1e-14);
  EXPECT_LT(regression_nll(q, row({60})), regression_nll(p, row({60})));
  const Regression wild = tempered(p, {0.5, kGaussian, 0.1, 9});
  EXPECT_NEAR(wild.aleatoric_var.item<double>(), 2 * (0.9 + 0.1 * 9), 1e-14);
  EXPECT_NEAR(wild.mean.item<double>(), 1, 1e-14);
  const std::vector<Tempering> wrong = {
      {0}, {1, 2}, {1, 3, 0.1, 9}, {1, kGaussian, 1, 9}, {1, kGaussian, 0.1, 1}};
  for (const Tempering& by : wrong) EXPECT_THROW(tempered(p, by), std::invalid_argument);
}

TEST(Tempering, FindsTheFactorOfTheVariance) {
  const int64_t n = 20000;
  const Tempering found = fitted_tempering(standard(n), 3 * Stream(1).normal({n}), true);
  EXPECT_NEAR(found.factor, 9, 0.5);  // five standard errors
  EXPECT_TRUE(std::isinf(found.dof)) << found.dof;
}

TEST(Tempering, FindsTheTails) {
  // t with 4 degrees of freedom and variance 2: a normal variable over the root of a chi-square one over 4.
  const int64_t n = 20000;
  const at::Tensor chi = Stream(2).normal({n, 4}).square().sum(1) / 4;
  const at::Tensor y = Stream(1).normal({n}) / chi.sqrt();
  const Tempering found = fitted_tempering(standard(n), y, true);
  EXPECT_GT(found.dof, 3.3);
  EXPECT_LT(found.dof, 5);
  EXPECT_NEAR(found.factor, 2, 0.4);
  EXPECT_TRUE(std::isinf(fitted_tempering(standard(n), y, false).dof));
}

TEST(Tempering, FindsWildRows) {
  const int64_t n = 20000;
  const at::Tensor far = (Stream(5).uniform({n}) < 0.01).to(at::kDouble);
  const at::Tensor y = 0.5 * Stream(6).normal({n}) * (1 + 19 * far);
  const Tempering found = fitted_tempering(standard(n), y, true);
  EXPECT_NEAR(found.wild_share, 0.01, 0.0035);  // five standard errors
  EXPECT_NEAR(found.factor, 0.25, 0.015);
  EXPECT_NEAR(std::log(found.wild_factor), std::log(400), 0.5);
  EXPECT_NEAR(coverage(tempered(standard(n), found), y, 0.95), 0.95, 0.008);
  EXPECT_EQ(fitted_tempering(standard(n), 3 * Stream(1).normal({n}), true).wild_share, 0);
}

/// A log target with this mean and variance of the logarithm in every row.
Regression log_normal(int64_t n, double mean, double var) {
  DensityComponent c{1, at::full({n}, mean, at::kDouble), at::full({n}, var, at::kDouble),
                     at::zeros({n}, at::kDouble)};
  c.warp = TargetWarp::log;
  return mixed({c});
}

// The logarithm has an sd of .3, and one target in a hundred is ten times what it should be.
TEST(Tempering, FindsWildRowsOfALogTarget) {
  const int64_t n = 20000;
  const at::Tensor typed = (Stream(5).uniform({n}) < 0.01).to(at::kDouble);
  const at::Tensor y = (2 + 0.3 * Stream(6).normal({n})).exp() * (1 + 9 * typed);
  const Regression p = log_normal(n, 2, 0.25);
  const Tempering found = fitted_tempering(p, y, true), gaussian = fitted_tempering(p, y, false);
  EXPECT_NEAR(found.wild_share, 0.01, 0.0035);  // five standard errors
  EXPECT_NEAR(found.factor, 0.09 / 0.25, 0.02);
  EXPECT_GT(gaussian.factor, 1.3 * found.factor);
  const Regression q = tempered(p, found);
  EXPECT_LT(regression_nll(q, y), regression_nll(tempered(p, gaussian), y) - 0.1);
  EXPECT_NEAR(coverage(q, y, 0.95), 0.95, 0.008);
  // The wild part is a Gaussian of the target itself, around the mean of the log-normal one.
  const Regression core = tempered(p, {found.factor});
  ASSERT_EQ(q.density.size(), 2u);
  const DensityComponent& far = q.density[0].warp == TargetWarp::none ? q.density[0] : q.density[1];
  EXPECT_EQ(far.warp, TargetWarp::none);
  EXPECT_NEAR(far.weight, found.wild_share, 1e-12);
  EXPECT_NEAR(far.mean[0].item<double>(), core.mean[0].item<double>(), 1e-9);
  EXPECT_NEAR(far.aleatoric_var[0].item<double>() / core.aleatoric_var[0].item<double>(), found.wild_factor,
              1e-9 * found.wild_factor);
  for (const double by : {0.8, 1.25})  // the maximum of the likelihood
    for (const Tempering& other :
         {Tempering{by * found.factor, kGaussian, found.wild_share, found.wild_factor},
          Tempering{found.factor, kGaussian, by * found.wild_share, found.wild_factor},
          Tempering{found.factor, kGaussian, found.wild_share, by * found.wild_factor}})
      EXPECT_GT(regression_nll(tempered(p, other), y), regression_nll(q, y));
}

TEST(Tempering, NoOtherCorrectionHasALowerNll) {
  const at::Tensor chi =
      Stream(2).normal({2000, 4}).square().sum(1) / 4;  // Student-t with 4 degrees of freedom
  const at::Tensor z = Stream(3).normal({2000});
  for (const at::Tensor& y : {z / chi.sqrt(), z.pow(3)}) {
    const Tempering found = fitted_tempering(standard(2000), y, true);
    const auto nll = [&](const Tempering& by) { return regression_nll(tempered(standard(2000), by), y); };
    const double best = nll(found);
    EXPECT_TRUE(std::isfinite(found.dof) || found.wild_share > 0);
    for (const double by : {0.8, 1.25}) {
      const auto [factor, dof, share, wild] = found;
      EXPECT_LT(best, nll({factor * by, dof, share, wild}));
      EXPECT_LE(best, nll({factor, 2 + (dof - 2) * by, share, wild}) + 1e-9);
      EXPECT_LE(best, nll({factor, dof, share * by, wild}) + 1e-9);
      EXPECT_LE(best, nll({factor, dof, share, share > 0 ? wild * by : 1}) + 1e-9);
    }
  }
}

TEST(Tempering, OfLogNormalAnswersStaysWhereTheirMomentsAreFinite) {
  DensityComponent c{1, at::zeros({50}, at::kDouble), at::ones({50}, at::kDouble),
                     at::zeros({50}, at::kDouble)};
  c.warp = TargetWarp::log;
  const at::Tensor y = (0.5 * Stream(4).normal({50})).exp();
  const Tempering found = fitted_tempering(mixed({c}), y, true);
  EXPECT_GT(found.factor, 0.12);  // 0.25, give or take five standard errors
  EXPECT_LT(found.factor, 0.5);
  EXPECT_TRUE(std::isinf(found.dof));
}

TEST(Tempering, AnExactFitKeepsAVariance) {
  const Tempering found = fitted_tempering(standard(100), at::zeros({100}, at::kDouble), true);
  EXPECT_GE(found.factor, 1e-3);
}

TEST(Tempering, KeepsTheVarianceOfALogTargetWithinItsBound) {
  DensityComponent c{1, at::zeros({2}, at::kDouble), at::ones({2}, at::kDouble), at::ones({2}, at::kDouble)};
  c.warp = TargetWarp::log;
  c.most_var = 4;
  const Regression p = tempered(mixed({c}), {50});
  for (const DensityComponent& one : p.density)
    EXPECT_LT((one.aleatoric_var + one.epistemic_var).max().item<double>(), 4 + 1e-12);
  EXPECT_LT(p.mean.max().item<double>(), std::exp(2) + 1e-9);
}

TEST(Tempering, FewRowsSayNothing) {
  const Tempering found = fitted_tempering(standard(4), at::full({4}, 100.0, at::kDouble), true);
  EXPECT_EQ(found.factor, 1);
  EXPECT_TRUE(std::isinf(found.dof));
}

/// Logits of 3 classes and labels that are drawn from their probabilities.
std::pair<at::Tensor, at::Tensor> labelled_logits(int64_t n) {
  const at::Tensor logits = 2 * Stream(1).normal({n, 3});
  const at::Tensor gumbel = -(-Stream(2).uniform({n, 3}).log()).log();
  return {logits, (logits + gumbel).argmax(1)};
}

TEST(Tempering, FindsThePowerOfTheProbabilities) {
  const auto [logits, y] = labelled_logits(20000);
  for (const double power : {0.4, 2.5}) {
    const Classes wrong = classes_of_logits(logits / power);
    const double found = fitted_power(wrong, y);
    EXPECT_NEAR(found, power, 0.05 * power);
    const at::Tensor same = classes_of_logits(found / power * logits).probabilities;
    EXPECT_TRUE(at::allclose(tempered(wrong, found).probabilities, same, 1e-12, 1e-14));
  }
  EXPECT_EQ(fitted_power(classes_of_logits(logits), y), 1);  // they are right
  EXPECT_EQ(fitted_power(classes_of_logits(logits.narrow(0, 0, 4)), y.narrow(0, 0, 4)), 1);
}

TEST(Tempering, KeepsTheShareOfTheExpectedEntropy) {
  const at::Tensor one = at::tensor({0.7, 0.3, 1.0, 0.0}, at::kDouble).reshape({2, 2});
  Classes p{one, -at::special_xlogy(one, one).sum(-1), {}, 1};
  p.expected_entropy = 0.5 * p.predictive_entropy;
  const Classes q = tempered(p, 2);
  EXPECT_NEAR(q.probabilities[0][0].item<double>(), 0.49 / 0.58, 1e-14);
  EXPECT_EQ(q.probabilities[1][0].item<double>(), 1);  // and no NaN beside it
  EXPECT_TRUE(at::allclose(q.expected_entropy, 0.5 * q.predictive_entropy));
  EXPECT_TRUE(at::isfinite(mutual_information(q)).all().item<bool>());
  EXPECT_EQ(q.zeroed, 1);
  for (const double power : {0.0, -1.0, std::nan("")})
    EXPECT_THROW(tempered(p, power), std::invalid_argument);
}

TEST(Tempering, AWrongCellOfAnySizeHasADensity) {
  const Regression p{at::zeros({2}, at::kDouble), at::ones({2}, at::kDouble), at::zeros({2}, at::kDouble)};
  const Regression q = contaminated(p, 0.01);
  EXPECT_TRUE(at::allclose(q.mean, p.mean));
  EXPECT_NEAR(total_var(q)[0].item<double>(), 0.99 + 0.01 * 25, 1e-9);
  EXPECT_NEAR(quantile(q, 1.96)[0].item<double>(), 1.96, 0.06);
  const at::Tensor nll = regression_row_nll(q, at::tensor({0.0, 1e15}, at::kDouble));
  EXPECT_NEAR(nll[0].item<double>(), 0.9189, 0.02);
  EXPECT_LT(nll[1].item<double>(), 120);
  EXPECT_TRUE(contaminated(p, 0).density.empty());
  EXPECT_THROW(contaminated(p, 1), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
