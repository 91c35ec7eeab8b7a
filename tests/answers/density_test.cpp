#include "slimbayes/answers/density.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/core/random.h"
#include "slimbayes/density/unit.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor same(double x, int64_t n) { return at::full({n}, x, at::kDouble); }

/// A Gaussian, a Student-t distribution and a log-normal one above .5, for n equal rows.
Regression three(int64_t n) {
  return mixed({{0.3, same(1, n), same(0.15, n), same(0.10, n)},
                {0.5, same(-1, n), same(1.5, n), same(0.5, n), 4},
                {0.2, same(0.2, n), same(0.4, n), same(0.09, n), kInfinity, TargetWarp::log, 0.5}});
}

// Reference values: scipy 1.17.1 (scipy.stats, scipy.integrate.quad, scipy.optimize.brentq).
TEST(Density, MixtureMatchesScipy) {
  const at::Tensor y = row({-30, 0.8, 6});
  const Regression p = three(3);
  EXPECT_NEAR(p.mean[0].item<double>(), 0.21209803916653336, 1e-13);
  EXPECT_NEAR(total_var(p)[0].item<double>(), 2.9870927864471946, 1e-13);
  EXPECT_TRUE(at::allclose(regression_row_nll(p, y),
                           row({15.05658209916488, 1.1572750115019002, 6.0535362569870115}), 1e-12));
  EXPECT_TRUE(at::allclose(normal_score(p, y),
                           row({-4.600826376074121, 0.17969240285731333, 2.677707000786549}), 1e-9));
  const at::Tensor reference = row({29.27419576324327, 0.41756795521469736, 4.8638392008315705});
  EXPECT_LT((regression_row_crps(p, y) - reference).abs().max().item<double>(), 1e-4);
  EXPECT_NEAR(quantile(p, normal_quantile(0.975))[0].item<double>(), 3.3805200302768053, 1e-10);
  EXPECT_NEAR(median(p)[0].item<double>(), 0.5210780680006953, 1e-10);
}

TEST(Density, QuantileInvertsTheNormalScore) {
  for (const double z : {-5.0, -1.0, 0.0, 0.3, 4.0}) {
    const Regression p = three(1);
    EXPECT_NEAR(normal_score(p, quantile(p, z)).item<double>(), z, 1e-8) << z;
  }
}

TEST(Density, TheNormalScoreIsFiniteWhereTheTailsAreTooSmallForAFloat64) {
  const Regression p =
      mixed({{0.5, same(0, 3), same(1, 3), same(0, 3)}, {0.5, same(0, 3), same(4, 3), same(0, 3)}});
  // log Q(s) = log 0.5 + log Q(50) gives s = 50 + log(2) / 50 to first order.
  EXPECT_TRUE(at::allclose(normal_score(p, row({-100, 0, 100})), row({-50.01386, 0, 50.01386}), 1e-5));
  const Regression q =
      mixed({{0.5, same(0, 2), same(1, 2), same(0, 2)}, {0.5, same(0, 2), same(4, 2), same(0, 2)}});
  const at::Tensor near = normal_score(q, row({74.9, 75.5}));  // on both sides of the smallest number
  EXPECT_NEAR((near[1] - near[0]).item<double>(), 0.3, 1e-3);
}

TEST(Density, AStudentTHasFiniteScoresAndQuantilesFarOut) {
  const Regression p = mixed({{1, same(0, 3), same(1, 3), same(0, 3), 90}});
  const at::Tensor score = normal_score(p, row({-1e4, 30, 1e4}));
  EXPECT_LT(score[2].item<double>(), 60);  // a Gaussian's is 1e4
  EXPECT_GT(score[2].item<double>(), score[1].item<double>());
  EXPECT_EQ(score[0].item<double>(), -score[2].item<double>());
  EXPECT_TRUE(std::isfinite(quantile(p, 1e4)[0].item<double>()));
}

TEST(Density, ALogNormalTargetBelowItsRangeHasAFiniteScore) {
  DensityComponent c{1, same(0, 1), same(1, 1), same(0, 1)};
  c.warp = TargetWarp::log;
  const Regression p = mixed({c, {1e-9, same(5, 1), same(1e-6, 1), same(0, 1)}});
  EXPECT_NEAR(normal_score(p, row({-1})).item<double>(), -6000,
              1);  // the other component, 6 / sqrt(1e-6) away
  EXPECT_EQ(conformal_scores(mixed({c}), row({-1})).item<double>(), 1e6);
}

TEST(Density, OneComponentIsTheGaussian) {
  const Regression plain{row({0.3, -1.2}), row({0.25, 0.5}), row({0.11, 0})};
  Regression p = mixed(components_of(plain));
  const at::Tensor y = row({0.5, -2});
  EXPECT_TRUE(at::allclose(p.mean, plain.mean));
  EXPECT_TRUE(at::allclose(total_var(p), total_var(plain)));
  EXPECT_NEAR(regression_nll(p, y), regression_nll(plain, y), 1e-13);
  EXPECT_NEAR(crps(p, y), crps(plain, y), 1e-13);
  EXPECT_TRUE(at::allclose(interval(p, 0.9).upper, interval(plain, 0.9).upper, 1e-12));
  EXPECT_TRUE(at::allclose(pit_histogram(p, y, 4), pit_histogram(plain, y, 4)));
}

TEST(Density, QuadratureIsTheClosedFormOfTheCrps) {
  // Two equal components are one, and their CRPS is computed by quadrature.
  const DensityComponent t{1, row({0.4, -2}), row({1, 0.3}), row({0.5, 0}), 5};
  const at::Tensor y = row({1.5, 3});
  const at::Tensor error = regression_row_crps(mixed({t, t}), y) - regression_row_crps(mixed({t}), y);
  EXPECT_LT(error.abs().max().item<double>(), 1e-4);
}

TEST(Density, RescalingKeepsProbabilities) {
  const at::Tensor y = row({-3, 0.8, 6});
  const Regression p = three(3), q = rescaled(p, 10, 4);
  EXPECT_TRUE(at::allclose(q.mean, 10 + 4 * p.mean));
  EXPECT_TRUE(at::allclose(normal_score(q, 10 + 4 * y), normal_score(p, y), 1e-12));
  EXPECT_TRUE(at::allclose(regression_row_nll(q, 10 + 4 * y), regression_row_nll(p, y) + std::log(4), 1e-12));
  EXPECT_TRUE(at::allclose(regression_row_crps(q, 10 + 4 * y), 4 * regression_row_crps(p, y), 1e-6));
  EXPECT_TRUE(at::allclose(quantile(q, 1.2), 10 + 4 * quantile(p, 1.2), 1e-10));
  const Regression moments = mixed(q.density);
  EXPECT_TRUE(at::allclose(moments.mean, q.mean, 1e-12));
  EXPECT_TRUE(at::allclose(total_var(moments), total_var(q), 1e-12));
}

/// The variance of a log-normal mean E[y | f] = exp(f + aleatoric / 2) and the mean variance of y given f, by
/// draws.
TEST(Density, PartsOfALogNormal) {
  const Regression p = mixed({{1, row({0.3}), row({0.2}), row({0.1}), kInfinity, TargetWarp::log, -1, 2}});
  const int64_t n = 4000000;
  const at::Tensor f = 0.3 + std::sqrt(0.1) * Stream(1).normal({n}), mean = 2 * at::exp(f + 0.1) - 1;
  EXPECT_NEAR(mean.mean().item<double>() / p.mean.item<double>(), 1, 0.002);
  EXPECT_NEAR(mean.var().item<double>() / p.epistemic_var.item<double>(), 1, 0.01);
  EXPECT_NEAR(
      (4 * at::exp(2 * f + 0.2) * std::expm1(0.2)).mean().item<double>() / p.aleatoric_var.item<double>(), 1,
      0.01);
}

TEST(Density, ALogTargetHasARange) {
  const Regression p = mixed({{1, row({0, 0}), row({1, 1}), row({0, 0}), kInfinity, TargetWarp::log, 2}});
  EXPECT_GT(quantile(p, -30)[0].item<double>(), 2 - 1e-12);
  const at::Tensor nll = regression_row_nll(p, row({1, 3}));
  EXPECT_TRUE(std::isinf(nll[0].item<double>()));
  EXPECT_NEAR(nll[1].item<double>(), 0.5 * std::log(2 * M_PI), 1e-13);
}

TEST(Density, IntervalsDoNotLeaveTheRangeOfTheTarget) {
  Regression p{row({1, 5}), row({4, 1}), row({0, 0})};
  p.least = 0;
  EXPECT_EQ(interval(p, 0.95).lower[0].item<double>(), 0);
  EXPECT_GT(interval(p, 0.95).lower[1].item<double>(), 3);
  EXPECT_EQ(interval(rescaled(p, 1, 2), 0.95).lower[0].item<double>(), 1);
  EXPECT_EQ(
      conformal_interval(p, ConformalScores(at::arange(1, 40, at::kDouble)), 0.9).lower[0].item<double>(), 0);
}

TEST(Density, TheMedianIsAsTheQuantilesInTheRangeOfTheTarget) {
  Regression p{row({-3, 5}), row({4, 1}), row({0, 0})};
  p.least = 0;
  EXPECT_TRUE(at::equal(median(p), quantile(p, 0)));
  EXPECT_TRUE(at::equal(median(p), row({0, 5})));
}

TEST(Density, ConformalIntervalsHoldTheirLevel) {
  // Targets of a log-normal distribution, answers with half its log variance: the level holds all the same.
  const int64_t n = 4000;
  const at::Tensor y = at::exp(Stream(3).normal({n}));
  const Regression p = mixed({{1, same(0, n), same(0.5, n), same(0, n), kInfinity, TargetWarp::log}});
  const at::Tensor first = at::arange(n / 2), second = at::arange(n / 2, n);
  const auto part = [&](const at::Tensor& rows) { return std::get<Regression>(take(p, rows)); };
  const ConformalScores scores(conformal_scores(part(first), y.index_select(0, first)));
  const Interval range = conformal_interval(part(second), scores, 0.9);
  EXPECT_NEAR(coverage(range, y.index_select(0, second)), 0.9, 0.03);
  EXPECT_GT(range.lower.min().item<double>(), 0);
  EXPECT_LT(coverage(part(second), y.index_select(0, second), 0.9), 0.83);
}

TEST(Density, MixtureOfDensitiesWeighsThePartsEqually) {
  const Regression t = mixed({{1, row({0}), row({1}), row({0}), 5}}), plain{row({3}), row({0.5}), row({0.5})};
  const Regression p = mixture(std::vector<Regression>{t, plain});
  EXPECT_EQ(p.density.size(), 2u);
  const at::Tensor y = row({2});
  EXPECT_NEAR(regression_nll(p, y),
              -std::log(0.5 * std::exp(-regression_nll(t, y)) + 0.5 * std::exp(-regression_nll(plain, y))),
              1e-12);
}

TEST(Density, TakesAndJoinsRows) {
  const Regression p = three(2);
  const Predictive joined =
      concatenated({take(p, at::tensor({0}, at::kLong)), take(p, at::tensor({1}, at::kLong))});
  EXPECT_NEAR(regression_nll(std::get<Regression>(joined), row({1, 2})), regression_nll(p, row({1, 2})),
              1e-14);
  EXPECT_THROW(concatenated({p, Regression{row({0}), row({1}), row({0})}}), std::invalid_argument);
}

TEST(Density, BadArguments) {
  EXPECT_THROW(mixed({}), std::invalid_argument);
  EXPECT_THROW(mixed({{0, row({0}), row({1}), row({0})}}), std::invalid_argument);
  EXPECT_THROW(mixed({{1, row({0}), row({1}), row({0}), 5, TargetWarp::log}}), std::invalid_argument);
  EXPECT_THROW(regression_nll(three(1), row({1, 2})), std::invalid_argument);
  EXPECT_THROW(regression_nll(three(1), row({NAN})), std::invalid_argument);
  EXPECT_THROW(quantile(three(1), kInfinity), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
