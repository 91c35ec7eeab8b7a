#include "slimbayes/answers/censored/kaplan_meier.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/answers/censored/survival_rows.h"

namespace slimbayes {
namespace {

// Reference values: scikit-survival 0.28.0 (tests/answers/survival_reference.py).
TEST(KaplanMeier, MatchesScikitSurvival) {
  const SurvivalCurve curve = kaplan_meier(scored_rows().data);
  ASSERT_EQ(curve.time.size(), 29u);
  const std::vector<size_t> places = {0, 5, 14, 27};
  const std::vector<double> time = {1, 3.5, 8, 14.5},
                            survival = {0.9666666666666667, 0.8449377765008684, 0.6271740372361342,
                                        0.16144645972662852},
                            lower = {0.8732247988830113, 0.7229289483536009, 0.4814996719155539,
                                     0.05257128653129885},
                            upper = {0.9915577022326196, 0.9162166886771568, 0.7424454299791761,
                                     0.32336912283868763};
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(curve.time[places[i]], time[i]);
    EXPECT_NEAR(curve.survival[places[i]], survival[i], 1e-12);
    EXPECT_NEAR(curve.lower[places[i]], lower[i], 1e-10);
    EXPECT_NEAR(curve.upper[places[i]], upper[i], 1e-10);
  }
  EXPECT_NEAR(curve.survival.back(), 0.08072322986331426, 1e-12);
}

TEST(CensoringCurve, MatchesScikitSurvival) {
  const SurvivalCurve curve = censoring_curve(scored_rows().data);
  const std::vector<double> expected = {0.9645593869731801, 0.9069358349671318, 0.819762867088407,
                                        0.7165199599615888, 0.5897611128247963};
  for (int64_t k = 0; k < 5; ++k) {
    const double t = scored_times()[k].item<double>(), reference = expected[static_cast<size_t>(k)];
    EXPECT_NEAR(curve.at(t).value(), reference, 1e-12);
    EXPECT_NEAR(inverse_censoring(curve, t, "f"), 1 / reference, 1e-11);
  }
}

// Five rows; at time 2 an event and a censoring are tied.
TEST(KaplanMeier, IsTheProductOfTheSharesThatStay) {
  const SurvivalTimes data{row({2, 1, 4, 2, 3}), at::tensor({1, 1, 1, 0, 0})};
  const SurvivalCurve curve = kaplan_meier(data), censoring = censoring_curve(data);
  EXPECT_EQ(curve.time, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(curve.at_risk, (std::vector<double>{5, 4, 2, 1}));
  EXPECT_EQ(curve.events, (std::vector<double>{1, 1, 0, 1}));
  EXPECT_DOUBLE_EQ(curve.survival[1], 0.6);
  EXPECT_DOUBLE_EQ(curve.log_var[1], 1.0 / (5 * 4) + 1.0 / (4 * 3));
  EXPECT_EQ(curve.survival[3], 0);
  EXPECT_EQ(curve.log_var[3], curve.log_var[1]);
  EXPECT_EQ(curve.upper[3], 0);
  EXPECT_EQ(censoring.at_risk,
            (std::vector<double>{4, 3, 2, 0}));  // the event at 2 leaves before the censoring
  EXPECT_DOUBLE_EQ(censoring.survival[1], 2.0 / 3);
  EXPECT_DOUBLE_EQ(censoring.survival[2], 1.0 / 3);
}

TEST(KaplanMeier, WithoutCensoringIsTheShareThatLives) {
  const SurvivalTimes data{row({5, 1, 2, 4}), at::ones({4})};
  const SurvivalCurve curve = kaplan_meier(data);
  EXPECT_EQ(curve.at(0.5).value(), 1);
  EXPECT_DOUBLE_EQ(curve.at(1).value(), 0.75);
  EXPECT_DOUBLE_EQ(curve.at(3.9).value(), 0.5);
  EXPECT_EQ(curve.at(5).value(), 0);
  EXPECT_EQ(curve.at(100).value(), 0);
  // Greenwood's variance of S is then the binomial one, S (1 - S) / n.
  EXPECT_DOUBLE_EQ(curve.log_var[1] * 0.25, 0.25 / 4);
  EXPECT_EQ(censoring_curve(data).at(3).value(), 1);
}

TEST(KaplanMeier, BeyondTheLastTimeIsUnknownUnlessItIsZero) {
  const SurvivalTimes data{row({1, 2, 3}), at::tensor({1, 1, 0})};
  const SurvivalCurve curve = kaplan_meier(data), censoring = censoring_curve(data);
  EXPECT_TRUE(curve.at(3).has_value());
  EXPECT_FALSE(curve.at(3.01).has_value());
  EXPECT_FALSE(curve.place(0.9).has_value());
  EXPECT_EQ(censoring.at(3).value(), 0);
  EXPECT_THROW(inverse_censoring(censoring, 3, "f"), std::invalid_argument);
  EXPECT_THROW(inverse_censoring(curve, 4, "f"), std::invalid_argument);
}

TEST(KaplanMeier, ARowOfWeightTwoIsTwoRows) {
  const SurvivalTimes data = scored_rows().data;
  const auto rows = repeats(60);
  const SurvivalCurve one = kaplan_meier(data, rows.first),
                      two = kaplan_meier(copied_rows(data, rows.second));
  ASSERT_EQ(one.time, two.time);
  for (size_t k = 0; k < one.time.size(); ++k) {
    EXPECT_DOUBLE_EQ(one.survival[k], two.survival[k]);
    EXPECT_DOUBLE_EQ(one.lower[k], two.lower[k]);
    EXPECT_DOUBLE_EQ(one.upper[k], two.upper[k]);
  }
}

TEST(KaplanMeier, RefusesWhatAreNoSurvivalTimes) {
  EXPECT_THROW(kaplan_meier({row({1, 2}), at::tensor({1, 2})}), std::invalid_argument);
  EXPECT_THROW(kaplan_meier({row({1, std::nan("")}), at::tensor({1, 0})}), std::invalid_argument);
  EXPECT_THROW(kaplan_meier({row({}), row({})}), std::invalid_argument);
  EXPECT_THROW(kaplan_meier({row({1, 2}), at::tensor({1})}), std::invalid_argument);
  EXPECT_THROW(kaplan_meier({row({1, 2}), at::tensor({1, 0})}, {}, 1), std::invalid_argument);
  EXPECT_THROW(kaplan_meier({row({1, 2}), at::tensor({1, 0})}, row({1, -1})), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
