#include "slimbayes/answers/conditional/group_scores.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/random.h"
#include "slimbayes/density/unit.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

/// Standard normal answers to 30 rows, whose last ten targets lie far off.
RowScores thirty_rows(const at::Tensor& weight = {}) {
  const at::Tensor zero = at::zeros({30}, at::kDouble), one = at::ones({30}, at::kDouble);
  at::Tensor y = zero.clone();
  y.slice(0, 20, 30).fill_(5);
  const Regression p{zero, one, zero};
  return row_scores(p, y, interval(p, 0.9), {}, weight);
}

RowGrouping three_groups(const std::vector<int64_t>& sizes) {
  RowGrouping groups{{}, {"a", "b", "c"}};
  for (size_t g = 0; g < sizes.size(); ++g)
    groups.of.insert(groups.of.end(), sizes[g], static_cast<int64_t>(g));
  return groups;
}

TEST(wilson_range, IsThatOfWilson) {
  // scipy 1.17: binomtest(45, 50).proportion_ci(0.95, "wilson"), to six digits.
  const auto [low, high] = wilson_range(0.9, 50);
  EXPECT_NEAR(low, 0.786398, 1e-6);
  EXPECT_NEAR(high, 0.956524, 1e-6);
  EXPECT_EQ(wilson_range(1, 20).second, 1);
  EXPECT_EQ(wilson_range(0, 20).first, 0);
  EXPECT_THROW(wilson_range(1.1, 20), std::invalid_argument);
  EXPECT_THROW(wilson_range(0.5, 0), std::invalid_argument);
}

TEST(wilson_range, EndsSolveTheirEquation) {
  const double share = 0.83, n = 37.5, z = normal_quantile(0.975);
  const auto [low, high] = wilson_range(share, n);
  for (const double p : {low, high}) {
    EXPECT_NEAR(std::abs(share - p), z * std::sqrt(p * (1 - p) / n), 1e-12);
  }
}

TEST(scores_by_group, AreThoseOfTheRowsOfEachGroup) {
  const GroupedScores found = scores_by_group(thirty_rows(), three_groups({10, 10, 10}), "place");
  EXPECT_EQ(found.column, "place");
  ASSERT_EQ(found.groups.size(), 3u);
  EXPECT_FALSE(found.few);
  EXPECT_EQ(found.groups[0].name, "a");
  EXPECT_EQ(found.groups[0].rows, 10);
  EXPECT_EQ(found.groups[0].coverage.value(), 1);
  EXPECT_EQ(found.groups[2].coverage.value(), 0);
  EXPECT_EQ(found.groups[2].rmse.value(), 5);
  EXPECT_NEAR(found.groups[1].width.value(), 2 * normal_quantile(0.95), 1e-12);
  EXPECT_NEAR(found.groups[2].nll - found.groups[0].nll, 12.5, 1e-12);  // 5^2 / 2
  EXPECT_EQ(found.groups[2].coverage_range, wilson_range(0, 10));
  EXPECT_FALSE(found.groups[0].accuracy);
  EXPECT_FALSE(found.groups[0].set_size);
}

TEST(scores_by_group, JoinGroupsOfFewerThanTenRows) {
  const GroupedScores found = scores_by_group(thirty_rows(), three_groups({15, 6, 9}), "place");
  ASSERT_EQ(found.groups.size(), 1u);
  EXPECT_EQ(found.few_groups, 2);
  EXPECT_EQ(found.few.value().rows, 15);
  EXPECT_EQ(found.few->name, "fewer than 10 rows");
  EXPECT_NEAR(found.few->coverage.value(), 5.0 / 15, 1e-12);
}

TEST(scores_by_group, CountARowByItsWeight) {
  at::Tensor weight = at::ones({30}, at::kDouble);
  weight.slice(0, 0, 10).fill_(3);
  const RowGrouping one{std::vector<int64_t>(30, 0), {"all"}};
  const GroupScores found = scores_by_group(thirty_rows(weight), one, "all").groups.at(0);
  EXPECT_NEAR(found.coverage.value(), 40.0 / 50, 1e-12);
  EXPECT_EQ(found.rows, 30);
  EXPECT_NEAR(found.coverage_range->first, wilson_range(0.8, 2500.0 / 110).first, 1e-12);
}

TEST(scores_by_group, RefuseGroupsOfOtherRowsAndGroupsWithoutAName) {
  EXPECT_THROW(scores_by_group(thirty_rows(), three_groups({10, 10, 9}), "place"), std::invalid_argument);
  EXPECT_THROW(scores_by_group(thirty_rows(), three_groups({10, 10, 5, 5}), "place"), std::invalid_argument);
}

TEST(row_scores, OfClassesHaveAccuracyAndTheirSets) {
  const at::Tensor q = at::tensor({0.7, 0.3, 0.4, 0.6, 0.9, 0.1}, at::kDouble).reshape({3, 2});
  const Classes p{q, row({0, 0, 0}), row({0, 0, 0})};
  const at::Tensor y = at::tensor({0, 0, 0}, at::kLong);
  const RowScores plain = row_scores(p, y, {}, {});
  EXPECT_FALSE(plain.covered.defined());
  EXPECT_TRUE(at::equal(plain.right, row({1, 0, 1})));
  const at::Tensor set = at::tensor({1, 1, 0, 1, 1, 0}, at::kLong).to(at::kBool).reshape({3, 2});
  const RowScores sets = row_scores(p, y, {}, set);
  EXPECT_TRUE(at::equal(sets.covered, row({1, 0, 1})));
  EXPECT_TRUE(at::equal(sets.size, row({2, 1, 1})));
  const GroupScores all = scores_of_group(sets, "all");
  EXPECT_NEAR(all.set_size.value(), 4.0 / 3, 1e-12);
  EXPECT_NEAR(all.accuracy.value(), 2.0 / 3, 1e-12);
  EXPECT_FALSE(all.width);
  EXPECT_FALSE(all.rmse);
}

}  // namespace
}  // namespace slimbayes
