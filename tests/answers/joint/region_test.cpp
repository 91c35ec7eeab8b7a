#include "slimbayes/answers/joint/region.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/joint/copula.h"
#include "slimbayes/density/unit.h"
#include "tests/answers/joint/correlations.h"
#include "tests/answers/joint/one_factor.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// P(|z_1| <= c, |z_2| <= c) of two scores with the correlation rho, by Simpson's rule over z_1.
double square_probability(double rho, double c) {
  constexpr int kIntervals = 2000;
  const double step = 2 * c / kIntervals, rest = std::sqrt(1 - rho * rho);
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const double z = -c + i * step, weight = i == 0 || i == kIntervals ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::exp(-0.5 * z * z) *
           (student_cdf((c - rho * z) / rest, kNoBound) - student_cdf((-c - rho * z) / rest, kNoBound));
  }
  return sum * step / 3 / std::sqrt(2 * std::numbers::pi);
}

TEST(RegionFactor, IsExactForOneTargetAndForUncorrelatedOnes) {
  for (const double level : {0.5, 0.9, 0.99}) {
    EXPECT_NEAR(region_factor(at::eye(1, at::kDouble), level), normal_quantile((1 + level) / 2), 1e-12);
    EXPECT_NEAR(region_factor(at::eye(4, at::kDouble), level),
                normal_quantile((1 + std::pow(level, 0.25)) / 2), 1e-12);
  }
}

TEST(RegionFactor, HasTheProbabilityOfTwoTargets) {
  for (const double rho : {-0.9, 0.3, 0.8, 0.98}) {
    for (const double level : {0.5, 0.9, 0.95}) {
      EXPECT_NEAR(square_probability(rho, region_factor(equicorrelated(2, rho), level)), level, 1e-6)
          << rho << " " << level;
    }
  }
}

TEST(RegionFactor, HasTheProbabilityOfTwelveTargetsOfOneFactor) {
  const std::vector<double> loading = {-0.9, -0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9};
  for (const double level : {0.5, 0.9, 0.99}) {
    const double factor = region_factor(one_factor_correlation(loading), level);
    EXPECT_NEAR(one_factor_square(loading, factor), level, 1e-4) << level;
  }
}

TEST(RegionFactor, FallsWithTheCorrelationWithinItsBounds) {
  double before = normal_quantile((1 + std::pow(0.9, 0.2)) / 2);
  for (const double rho : {0.001, 0.3, 0.6, 0.9, 0.999}) {
    const double factor = region_factor(equicorrelated(5, rho), 0.9);
    EXPECT_LE(factor, before) << rho;
    before = factor;
  }
  EXPECT_GE(before, normal_quantile(0.95));
  EXPECT_NEAR(before, normal_quantile(0.95), 0.05);
}

TEST(RegionFactor, HoldsItsLevelInDraws) {
  const at::Tensor matrix = three_correlations(0.8, -0.4, 0.1);
  const at::Tensor z = copula_scores(matrix, 100, 1000, Stream(1)).view({-1, 3});
  const at::Tensor inside = (region_scores(z) <= region_factor(matrix, 0.9)).to(at::kDouble);
  EXPECT_NEAR(inside.mean().item<double>(), 0.9, 5 * std::sqrt(0.09 / 1e5));
}

TEST(RegionFactor, RefusesALevelThatIsNone) {
  const at::Tensor matrix = equicorrelated(2, 0.5);
  EXPECT_THROW(region_factor(matrix, 0), std::invalid_argument);
  EXPECT_THROW(region_factor(matrix, 1), std::invalid_argument);
  EXPECT_THROW(region_factor(2 * matrix, 0.9), std::invalid_argument);
}

TEST(RegionScores, AreTheLargestOfTheKnownTargets) {
  const double unknown = std::nan("");
  const at::Tensor z = row({1, -3, 2, unknown, -0.5, unknown, kNoBound, 0, 1}).view({3, 3});
  EXPECT_TRUE(at::equal(region_scores(z), row({3, 0.5, 1e6})));
  EXPECT_THROW(region_scores(at::full({1, 2}, unknown, at::kDouble)), std::invalid_argument);
}

// The share of new rows in a calibrated region holds its level although the correlation is unknown.
TEST(RegionScores, CalibrateJointRegions) {
  const at::Tensor matrix = equicorrelated(3, 0.7);
  const at::Tensor z = 1.5 * copula_scores(matrix, 4000, 1, Stream(2))[0];  // the answers are too certain
  const at::Tensor scores = region_scores(z);
  std::vector<int64_t> group(2000);
  std::iota(group.begin(), group.end(), 0);
  const double factor = conformal_factor(sorted_scores(scores.narrow(0, 0, 2000), group), 0.9);
  const at::Tensor inside = (scores.narrow(0, 2000, 2000) <= factor).to(at::kDouble);
  EXPECT_NEAR(inside.mean().item<double>(), 0.9, 4 * std::sqrt(2 * 0.09 / 2000));
  EXPECT_NEAR(factor, 1.5 * region_factor(matrix, 0.9), 0.15);
}

}  // namespace
}  // namespace slimbayes
