// The estimate of the conditional coverage against noise whose coverage given the input is known.
#include "slimbayes/model/conditional/coverage_classifier.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {
namespace {

constexpr int64_t kRows = 4000, kNodes = 20001;
constexpr double kAt = 0.9;

/// The coverage of |y| <= half where y has the sd exp(x0).
at::Tensor coverage_given(const at::Tensor& x0, double half) {
  return at::erf(half / (x0.exp() * std::sqrt(2.0)));
}

/// The half width of the interval of constant width that covers kAt of the rows, x0 uniform in (-1, 1), and
/// the means of |c(x) - kAt| and of (c(x) - kAt)^2, by the rule of the midpoint.
struct ConstantWidth {
  double half = 0, l1 = 0, brier = 0;
};

ConstantWidth constant_width() {
  const at::Tensor x0 = -1 + 2 * (at::arange(kNodes, at::kDouble) + 0.5) / kNodes;
  double low = 0.1, high = 20;
  for (int i = 0; i < 60; ++i) {
    const double half = (low + high) / 2;
    (coverage_given(x0, half).mean().item<double>() < kAt ? low : high) = half;
  }
  const at::Tensor off = coverage_given(x0, low) - kAt;
  return {low, off.abs().mean().item<double>(), off.square().mean().item<double>()};
}

/// The estimate for intervals of this half width around 0: [n].
ExcessRisk risk_of(const at::Tensor& x, const at::Tensor& y, const at::Tensor& half) {
  const at::Tensor z = (y.abs() <= half).to(at::kDouble);
  const CoverageProbability fitted = cross_fitted_probability(x, z);
  return excess_risk(z, fitted.p, fitted.fold, kAt);
}

TEST(cross_fitted_probability, FindsTheIntervalsOfConstantWidth) {
  const ConstantWidth truth = constant_width();
  EXPECT_NEAR(truth.l1, 0.1079, 1e-4);  // scipy 1.17: brentq and norm.cdf on a grid
  EXPECT_NEAR(truth.brier, 0.01627, 1e-5);
  const at::Tensor x = 2 * Stream(1).uniform({kRows, 2}) - 1,
                   y = x.select(1, 0).exp() * Stream(2).normal({kRows});
  const ExcessRisk found = risk_of(x, y, at::full({kRows}, truth.half, at::kDouble));
  // A lower bound up to chance: the sd of a mean of 4,000 rows is 0.0047 (L1) and 0.0017 (Brier).
  EXPECT_LT(found.ert_l1.value(), truth.l1 + 3.5 * 0.0047);
  EXPECT_GT(found.ert_l1.value(), 0.7 * truth.l1);
  EXPECT_LT(found.ert_brier.value(), truth.brier + 3.5 * 0.0017);
  EXPECT_GT(found.ert_brier.value(), 0.5 * truth.brier);
  EXPECT_NE(found.says.find("off its level"), std::string::npos) << found.says;
}

TEST(cross_fitted_probability, OfCorrectIntervalsFindsNothing) {
  const at::Tensor x = 2 * Stream(1).uniform({kRows, 2}) - 1, sd = x.select(1, 0).exp(),
                   y = sd * Stream(3).normal({kRows});
  const ExcessRisk found = risk_of(x, y, sd * normal_quantile((1 + kAt) / 2));
  EXPECT_NEAR(found.ert_l1.value(), 0, 3.5 * 0.0047);
  EXPECT_NEAR(found.ert_brier.value(), 0, 0.001);  // the prior shrinks the classifier to the share of z
}

TEST(cross_fitted_probability, IsTheShareWhereAllRowsAreCovered) {
  const at::Tensor x = Stream(1).normal({50, 1});
  const CoverageProbability found = cross_fitted_probability(x, at::ones({50}, at::kDouble));
  EXPECT_TRUE(at::allclose(found.p, at::full({50}, 40.5 / 41, at::kDouble)));
}

TEST(cross_fitted_probability, KeepsEqualInputsInOneFold) {
  const at::Tensor x = at::arange(100, at::kFloat).remainder(20).unsqueeze(1);
  const at::Tensor fold = cross_fitted_probability(x, (Stream(1).uniform({100}) < 0.7).to(at::kDouble)).fold;
  EXPECT_TRUE(at::equal(fold.slice(0, 0, 20), fold.slice(0, 20, 40)));
  EXPECT_TRUE(at::equal(at::bincount(fold), at::full({5}, 20, at::kLong)));
}

TEST(with_hinges, AreZeroUpToTheirKnot) {
  const at::Tensor x = at::arange(10, at::kDouble).unsqueeze(1), bit = (x > 4).to(at::kDouble);
  const at::Tensor found = with_hinges(at::cat({x, bit}, 1));
  ASSERT_EQ(found.size(1), 6);  // the column of two values has no hinges
  EXPECT_TRUE(at::equal(found.select(1, 2), (x.select(1, 0) - 2).clamp_min(0)));
  EXPECT_TRUE(at::equal(found.select(1, 5), (x.select(1, 0) - 8).clamp_min(0)));
}

}  // namespace
}  // namespace slimbayes
