#include "slimbayes/answers/ranking.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(Ranking, AurocCountsPairsAndHalvesTies) {
  EXPECT_DOUBLE_EQ(auroc(row({0, 1}), row({2, 3})), 1);
  EXPECT_DOUBLE_EQ(auroc(row({2, 3}), row({0, 1})), 0);
  EXPECT_DOUBLE_EQ(auroc(row({1, 1, 1}), row({1, 1})), 0.5);
  // Pairs: (1 > 0), (1 = 1), (3 > 0), (3 > 1). A tie counts half: 3.5 of 4.
  EXPECT_DOUBLE_EQ(auroc(row({0, 1}), row({1, 3})), 0.875);
  // Reference value: sklearn.metrics.roc_auc_score.
  EXPECT_NEAR(auroc(row({0.1, 0.4, 0.4, 0.35, 0.8, 1.5, -2.0}), row({0.4, 0.35, 0.9, 0.8, 2.5})),
              0.7142857142857143, 1e-15);
  at::Tensor a = (Stream(4).normal({200}) * 4).round(), b = (Stream(5).normal({150}) * 4 + 1).round();
  at::Tensor wins = (b.unsqueeze(1) > a).to(at::kDouble) + 0.5 * (b.unsqueeze(1) == a).to(at::kDouble);
  EXPECT_NEAR(auroc(a, b), wins.mean().item<double>(), 1e-14);
  EXPECT_THROW(auroc(row({}), row({1})), std::invalid_argument);
  EXPECT_THROW(auroc(row({std::nan("")}), row({1})), std::invalid_argument);
}

// All orders of the scores are equally likely. With 1 + 1 scores AUROC is 0 or 1, with 2 + 1 it is 0, 1/2 or
// 1.
TEST(Ranking, TheSdOfChance) {
  EXPECT_DOUBLE_EQ(auroc_sd(1, 1), 0.5);
  EXPECT_DOUBLE_EQ(auroc_sd(2, 1), std::sqrt(1.0 / 6));
  EXPECT_DOUBLE_EQ(auroc_sd(1, 2), auroc_sd(2, 1));
}

TEST(Ranking, AveragePrecisionIsAStepFunctionWithTies) {
  EXPECT_DOUBLE_EQ(average_precision(row({0, 1}), row({2, 3})), 1);
  // The average precision of a constant score is the prevalence.
  EXPECT_DOUBLE_EQ(average_precision(row({1, 1, 1}), row({1, 1})), 0.4);
  // Threshold 3 has recall 1/2 at precision 1, threshold 2 recall 1 at precision 2/3. Threshold 1 adds no
  // recall.
  EXPECT_DOUBLE_EQ(average_precision(row({2, 1}), row({3, 2})), 0.5 * 1 + 0.5 * 2 / 3);
  // Reference value: sklearn.metrics.average_precision_score 1.9.1.
  EXPECT_NEAR(average_precision(row({0.1, 0.4, 0.4, 0.35, 0.8, 1.5, -2.0}), row({0.4, 0.35, 0.9, 0.8, 2.5})),
              0.6533333333333333, 1e-15);
  EXPECT_THROW(average_precision(row({1}), row({})), std::invalid_argument);
}

TEST(Ranking, FalsePositivesAtARecall) {
  const at::Tensor negative = row({1, 2, 3, 4, 5}), positive = row({2.5, 3.5, 4.5, 9, 9, 9, 9, 9, 9, 9});
  EXPECT_DOUBLE_EQ(false_positive_rate(negative, positive, 1), 0.6);     // above 2.5: 3, 4, 5
  EXPECT_DOUBLE_EQ(false_positive_rate(negative, positive, 0.95), 0.6);  // nine of ten are too few
  EXPECT_DOUBLE_EQ(false_positive_rate(negative, positive, 0.9), 0.4);
  EXPECT_DOUBLE_EQ(false_positive_rate(negative, positive, 0.7), 0);
  EXPECT_DOUBLE_EQ(false_positive_rate(row({1, 1}), row({1, 1, 1})), 1);
  EXPECT_THROW(false_positive_rate(negative, positive, 0), std::invalid_argument);
}

TEST(Ranking, PositivesFoundAtAShareOfFalseAlarms) {
  const at::Tensor negative = row({1, 2, 3, 4, 4}), positive = row({0, 3.5, 4, 5});
  EXPECT_DOUBLE_EQ(true_positive_rate(negative, positive, 0), 0.25);    // above 4: a tie does not count
  EXPECT_DOUBLE_EQ(true_positive_rate(negative, positive, 0.2), 0.25);  // one 4 may be an alarm, one not
  EXPECT_DOUBLE_EQ(true_positive_rate(negative, positive, 0.4), 0.75);  // above 3
  EXPECT_DOUBLE_EQ(true_positive_rate(negative, positive, 0.59), 0.75);
  EXPECT_DOUBLE_EQ(true_positive_rate(negative, positive, 0.6), 0.75);  // above 2
  EXPECT_DOUBLE_EQ(true_positive_rate(row({1, 1}), row({1, 1, 1})), 0);
  // 5 % of 20 is one alarm, although 0.05 * 20 is not exact for all multiples.
  const at::Tensor many = at::arange(60, at::kDouble);
  EXPECT_DOUBLE_EQ(true_positive_rate(many, row({55.5, 56.5, 57.5, 58.5})), 0.75);
  EXPECT_THROW(true_positive_rate(negative, positive, 1), std::invalid_argument);
  EXPECT_THROW(true_positive_rate(negative, row({})), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
