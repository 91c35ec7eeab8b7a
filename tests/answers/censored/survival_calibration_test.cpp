#include "slimbayes/answers/censored/survival_calibration.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "slimbayes/core/random.h"
#include "tests/answers/censored/survival_rows.h"

namespace slimbayes {
namespace {

// Reference values: the formulas of the paper and scipy 1.17.1 (tests/answers/survival_reference.py).
TEST(DistributionCalibration, MatchesTheCountsOfThePaper) {
  const SurvivalRows rows = scored_rows();
  const at::Tensor below = 1 - at::exp(-rows.rate * rows.data.time);
  const DistributionCalibration got =
      distribution_calibration(below, below.masked_fill(rows.data.event.logical_not(), 1));
  EXPECT_LT(farthest(got.share,
                     row({0.10041736065154229, 0.10722551960356602, 0.1744581017613645, 0.13108085128061478,
                          0.0753393182467854, 0.12229576969122545, 0.10974931774154391, 0.05981125367445257,
                          0.05981125367445257, 0.05981125367445257})),
            1e-13);
  EXPECT_NEAR(got.statistic, 7.564869791057439, 1e-11);
  EXPECT_NEAR(got.p_value, 0.5785194017929072, 1e-11);
}

TEST(DistributionCalibration, SpreadsARowOverItsBounds) {
  const DistributionCalibration got =
      distribution_calibration(row({0.25, 0.1, 1, 0}), row({0.75, 0.1, 1, 1}), 2);
  EXPECT_DOUBLE_EQ(got.share[0].item<double>(), (0.5 + 1 + 0 + 0.5) / 4);
  EXPECT_DOUBLE_EQ(got.share.sum().item<double>(), 1);
  EXPECT_EQ(got.statistic, 0);
  EXPECT_EQ(got.p_value, 1);
  const DistributionCalibration half =
      distribution_calibration(row({0.1, 0.9}), row({0.1, 0.9}), 2, row({3, 1}));
  EXPECT_DOUBLE_EQ(half.share[0].item<double>(), 0.75);
  EXPECT_DOUBLE_EQ(half.statistic, 1);                    // (3 - 2)^2 / 2 + (1 - 2)^2 / 2
  EXPECT_NEAR(half.p_value, 0.31731050786291415, 1e-14);  // P(|Z| > 1)
}

// Targets of the predicted law pass, whatever their censoring; those of a wider law do not.
TEST(DistributionCalibration, TellsTheRightLawFromAWrongOne) {
  const int64_t n = 4000;
  const at::Tensor y = 2 * Stream(1).normal({n}), end = 2 + 3 * Stream(2).normal({n});
  const double open = std::numeric_limits<double>::infinity();
  const Censored target{at::minimum(y, end), at::where(y <= end, y, open)};
  const at::Tensor zero = at::zeros({n}, at::kDouble);
  EXPECT_GT(distribution_calibration(Regression{zero, zero + 4, zero}, target).p_value, 1e-3);
  EXPECT_LT(distribution_calibration(Regression{zero, zero + 1.5, zero}, target).p_value, 1e-6);
  // Interval-censored: only the whole part of the target is known.
  const Censored whole{y.floor(), y.floor() + 1};
  EXPECT_GT(distribution_calibration(Regression{zero, zero + 4, zero}, whole).p_value, 1e-3);
  EXPECT_LT(distribution_calibration(Regression{zero, zero + 1.5, zero}, whole).p_value, 1e-6);
}

TEST(DistributionCalibration, RefusesWhatIsNoCdf) {
  EXPECT_THROW(distribution_calibration(row({0.5}), row({0.4})), std::invalid_argument);
  EXPECT_THROW(distribution_calibration(row({-0.1}), row({0.4})), std::invalid_argument);
  EXPECT_THROW(distribution_calibration(row({0.1}), row({1.4})), std::invalid_argument);
  EXPECT_THROW(distribution_calibration(row({0.1}), row({0.4}), 1), std::invalid_argument);
  EXPECT_THROW(distribution_calibration(row({}), row({})), std::invalid_argument);
}

// Reference values: scikit-survival 0.28.0 (tests/answers/survival_reference.py).
TEST(HorizonCalibration, MatchesScikitSurvival) {
  const SurvivalRows rows = scored_rows();
  const at::Tensor rate = rows.rate + 0.001 * at::arange(60, at::kDouble) / 64;
  const std::vector<HorizonGroup> got = horizon_calibration(rows.data, at::exp(-rate * 6), 6);
  const std::vector<HorizonGroup> expected = {
      {12, 0.6263064105738398, 0.48125, 0.1572860051244301, 0.7488747499704901},
      {12, 0.6754074021863582, 0.808080808080808, 0.42349600619012406, 0.9485229350173677},
      {12, 0.7320385164771022, 0.9166666666666666, 0.5389771805707412, 0.987825565400458},
      {12, 0.8044437564083937, 0.48611111111111105, 0.1918766196187282, 0.7296715697794853},
      {12, 0.8720106865428366, 0.9166666666666666, 0.5389771805707412, 0.987825565400458}};
  ASSERT_EQ(got.size(), expected.size());
  for (size_t g = 0; g < got.size(); ++g) {
    EXPECT_EQ(got[g].rows, expected[g].rows);
    EXPECT_NEAR(got[g].predicted, expected[g].predicted, 1e-12);
    EXPECT_NEAR(got[g].observed.value(), *expected[g].observed, 1e-12);
    EXPECT_NEAR(got[g].lower, expected[g].lower, 1e-10);
    EXPECT_NEAR(got[g].upper, expected[g].upper, 1e-10);
  }
}

TEST(HorizonCalibration, SaysNothingWhereAGroupWasNotSeen) {
  const SurvivalTimes data{row({1, 2, 1, 5}), at::tensor({1, 0, 0, 1})};
  const std::vector<HorizonGroup> groups = horizon_calibration(data, row({0.1, 0.2, 0.8, 0.9}), 3, 2);
  EXPECT_FALSE(groups[0].observed.has_value());
  EXPECT_EQ(groups[0].lower, 0);
  EXPECT_EQ(groups[0].upper, 1);
  EXPECT_EQ(groups[1].observed.value(), 1);
  EXPECT_EQ(groups[1].lower, 1);
  EXPECT_DOUBLE_EQ(groups[1].predicted, 0.85);
  const std::vector<HorizonGroup> weighed =
      horizon_calibration(data, row({0.1, 0.2, 0.8, 0.9}), 1.5, 1, row({1, 1, 1, 2}));
  EXPECT_DOUBLE_EQ(weighed[0].observed.value(), 0.8);
  EXPECT_DOUBLE_EQ(weighed[0].predicted, 2.9 / 5);
  EXPECT_THROW(horizon_calibration(data, row({0.1, 0.2, 0.8, 0.9}), 3, 5), std::invalid_argument);
  EXPECT_THROW(horizon_calibration(data, row({0.1, 0.2, 0.8, 1.9}), 3, 2), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
