#include "slimbayes/answers/conditional/excess_risk.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

const at::Tensor& two_folds() {
  static const at::Tensor fold = at::tensor({0, 0, 1, 1}, at::kLong);
  return fold;
}

TEST(excess_risk, IsTheGainOverTheConstantLevel) {
  const ExcessRisk found = excess_risk(row({1, 0, 1, 1}), row({0.9, 0.5, 0.8, 0.9}), two_folds(), 0.8);
  // L1: sign(p - 0.8) (z - 0.8) is 0.2, 0.8, 0 and 0.2. Brier: 0.04 - 0.01, 0.64 - 0.25, 0, 0.04 - 0.01.
  EXPECT_NEAR(found.ert_l1.value(), 1.2 / 4, 1e-12);
  EXPECT_NEAR(found.ert_brier.value(), 0.45 / 4, 1e-12);
  EXPECT_NEAR(found.ert_l1_se.value(), 0.2, 1e-12);  // |0.5 - 0.1| / sqrt 2 / sqrt 2
  EXPECT_NEAR(found.ert_brier_se.value(), (0.21 - 0.015) / 2, 1e-12);
  EXPECT_EQ(found.rows, 4);
  EXPECT_EQ(found.folds, 2);
}

TEST(excess_risk, OfTheConstantLevelIsZero) {
  const ExcessRisk found = excess_risk(row({1, 0, 1, 1}), row({0.8, 0.8, 0.8, 0.8}), two_folds(), 0.8);
  EXPECT_EQ(found.ert_l1.value(), 0);
  EXPECT_EQ(found.ert_brier.value(), 0);
}

TEST(excess_risk, OfTheTrueCoverageIsTheDivergenceItself) {
  const int64_t n = 200000;
  const at::Tensor c = 0.8 + 0.2 * Stream(1).uniform({n}), z = (Stream(2).uniform({n}) < c).to(at::kDouble),
                   fold = at::arange(n) % 5;
  const ExcessRisk found = excess_risk(z, c, fold, 0.9);
  EXPECT_NEAR(found.ert_l1.value(), 0.05, 0.003);           // mean of |c - 0.9|; four sds of 0.3 / sqrt n
  EXPECT_NEAR(found.ert_brier.value(), 0.04 / 12, 0.0004);  // variance of c
}

TEST(excess_risk, CountsARowByItsWeight) {
  const at::Tensor covered = row({1, 0, 1, 1}), p = row({0.9, 0.5, 0.8, 0.9}), weight = row({2, 1, 1, 1});
  const ExcessRisk twice = excess_risk(row({1, 1, 0, 1, 1}), row({0.9, 0.9, 0.5, 0.8, 0.9}),
                                       at::tensor({0, 0, 0, 1, 1}, at::kLong), 0.8);
  const ExcessRisk found = excess_risk(covered, p, two_folds(), 0.8, weight);
  EXPECT_NEAR(found.ert_l1.value(), twice.ert_l1.value(), 1e-12);
  EXPECT_NEAR(found.ert_brier_se.value(), twice.ert_brier_se.value(), 1e-12);
}

TEST(excess_risk, RefusesOneFoldAndProbabilitiesBeyondOne) {
  const at::Tensor one = at::zeros({4}, at::kLong), z = row({1, 0, 1, 1});
  EXPECT_THROW(excess_risk(z, z, one, 0.8), std::invalid_argument);
  EXPECT_THROW(excess_risk(z, 2 * z, two_folds(), 0.8), std::invalid_argument);
  EXPECT_THROW(excess_risk(z, z, two_folds(), 1), std::invalid_argument);
  EXPECT_THROW(excess_risk(z, row({1, 0}), two_folds(), 0.8), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
