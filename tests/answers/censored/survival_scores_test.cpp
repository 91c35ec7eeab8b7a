#include "slimbayes/answers/censored/survival_scores.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/ranking.h"
#include "tests/answers/censored/survival_rows.h"

namespace slimbayes {
namespace {

at::Tensor hazards(const SurvivalRows& rows) { return rows.rate.unsqueeze(1) * scored_times(); }

// Reference values: scikit-survival 0.28.0 (tests/answers/survival_reference.py).
TEST(SurvivalBrier, MatchesScikitSurvival) {
  const SurvivalRows rows = scored_rows();
  const SurvivalTimes training = censoring_rows().data;
  const at::Tensor survival = at::exp(-hazards(rows));
  EXPECT_LT(farthest(survival_brier(training, rows.data, survival, scored_times()),
                     row({0.07999345482287472, 0.14241286605498513, 0.1886406241991178, 0.22909063676298824,
                          0.25411294707053245})),
            1e-12);
  EXPECT_NEAR(integrated_survival_brier(training, rows.data, survival, scored_times()), 0.1851163856616073,
              1e-12);
}

TEST(SurvivalBrier, WithoutCensoringIsTheMeanSquaredError) {
  const SurvivalTimes data{row({1, 2, 3, 4}), at::ones({4})};
  const at::Tensor survival = row({0.1, 0.4, 0.8, 0.9}), lives = row({0, 0, 1, 1});
  const at::Tensor score = survival_brier(data, data, survival.unsqueeze(1), row({2}));
  EXPECT_DOUBLE_EQ(score.item<double>(), (survival - lives).square().mean().item<double>());
}

TEST(SurvivalBrier, ARowOfWeightTwoIsTwoRows) {
  const SurvivalRows rows = scored_rows();
  const SurvivalTimes training = censoring_rows().data;
  const auto copies = repeats(60);
  const at::Tensor survival = at::exp(-hazards(rows)), risk = rows.risk;
  const SurvivalTimes twice = copied_rows(rows.data, copies.second);
  EXPECT_LT(
      farthest(survival_brier(training, rows.data, survival, scored_times(), copies.first),
               survival_brier(training, twice, survival.index_select(0, copies.second), scored_times())),
      1e-14);
  const DynamicAuc one = dynamic_auc(training, rows.data, risk, scored_times(), copies.first),
                   two = dynamic_auc(training, twice, risk.index_select(0, copies.second), scored_times());
  EXPECT_LT(farthest(one.auc, two.auc), 1e-13);
  EXPECT_NEAR(one.mean, two.mean, 1e-13);
}

TEST(SurvivalBrier, RefusesTimesBeyondTheCensoringData) {
  const SurvivalTimes training{row({1, 2, 3}), at::tensor({1, 0, 1})}, data{row({1, 5}), at::tensor({1, 1})};
  const at::Tensor half = at::full({2, 1}, 0.5, at::kDouble);
  EXPECT_THROW(survival_brier(training, data, half, row({4})), std::invalid_argument);
  EXPECT_NO_THROW(survival_brier(training, data, half, row({3})));
  EXPECT_THROW(survival_brier(training, data, half + 1, row({3})), std::invalid_argument);
  EXPECT_THROW(survival_brier(training, data, half, row({2, 3})), std::invalid_argument);
  EXPECT_THROW(survival_brier(training, data, half.expand({2, 2}), row({3, 2})), std::invalid_argument);
  EXPECT_THROW(integrated_survival_brier(training, data, half, row({3})), std::invalid_argument);
}

// Reference values: scikit-survival 0.28.0 (tests/answers/survival_reference.py).
TEST(DynamicAuc, MatchesScikitSurvival) {
  const SurvivalRows rows = scored_rows();
  const SurvivalTimes training = censoring_rows().data;
  const DynamicAuc one = dynamic_auc(training, rows.data, rows.risk, scored_times());
  EXPECT_LT(farthest(one.auc, row({0.5095959186978702, 0.6493827160493827, 0.6883404188360404,
                                   0.6718666373801927, 0.6541488038443808})),
            1e-12);
  EXPECT_NEAR(one.mean, 0.6411999271390273, 1e-12);
  const DynamicAuc each = dynamic_auc(training, rows.data, hazards(rows), scored_times());
  EXPECT_LT(farthest(each.auc, row({0.5100412988905985, 0.5581908831908832, 0.5979586475659358,
                                    0.5482102498309989, 0.47933671932034483})),
            1e-12);
  EXPECT_NEAR(each.mean, 0.5334055530964681, 1e-12);
}

TEST(DynamicAuc, WithoutCensoringIsTheAucOfThoseWhoLive) {
  const SurvivalTimes data{row({1, 2, 3, 4}), at::ones({4})};
  const at::Tensor risk = row({3, 1, 2, 0});
  EXPECT_DOUBLE_EQ(dynamic_auc(data, data, risk, row({2})).mean, auroc(row({2, 0}), row({3, 1})));
  EXPECT_THROW(dynamic_auc(data, data, risk, row({0.5})), std::invalid_argument);  // no case
  EXPECT_THROW(dynamic_auc(data, data, risk, row({4})), std::invalid_argument);    // no control
}

TEST(SurvivalProbability, IsTheUpperTailOfTheDensity) {
  const Regression p{row({0, 3}), row({1, 2}), row({0, 2})};
  const at::Tensor s = survival_probability(p, row({1, 3}));
  EXPECT_LT(farthest(s, at::stack({row({0.15865525393145705, 0.0013498980316300946}),
                                   row({0.8413447460685429, 0.5})})),
            1e-14);
}

}  // namespace
}  // namespace slimbayes
