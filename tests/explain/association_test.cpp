#include "slimbayes/explain/association.h"

#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

double between(const Column& a, const Column& b) { return association(ranked(a), ranked(b)); }

TEST(ranked, GivesEqualCellsTheirMeanRank) {
  const std::vector<double> found = ranked(numbers("a", {5, 1, kNone, 5, 2})).values;
  EXPECT_EQ(found[0], 2.5);
  EXPECT_EQ(found[1], 0);
  EXPECT_TRUE(std::isnan(found[2]));
  EXPECT_EQ(found[3], 2.5);
  EXPECT_EQ(found[4], 1);
}

TEST(association, OfNumbersIsSpearmansCorrelation) {
  // scipy 1.11: spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]) = 0.8207826816681233
  EXPECT_NEAR(between(numbers("a", {1, 2, 3, 4, 5}), numbers("b", {5, 6, 7, 8, 7})), 0.8207826816681233,
              1e-12);
  EXPECT_NEAR(between(numbers("a", {1, 2, 3, 4}), numbers("b", {8, 4, 2, 1})), 1, 1e-12);
  EXPECT_EQ(between(numbers("a", {1, 1, 1, 1}), numbers("b", {8, 4, 2, 1})), 0);
  EXPECT_NEAR(between(numbers("a", {1, kNone, 2, 3}), numbers("b", {1, 9, 2, 3})), 1, 1e-12);
}

TEST(association, OfCategoriesIsOneForTheSameAndNearZeroForIndependentOnes) {
  Column a = categories("a", {}, {"p", "q", "r"}), many = categories("b", {}, {}), x = numbers("x", {}),
         shifted = numbers("s", {});
  for (int64_t i = 0; i < 600; ++i) {
    const auto k = static_cast<uint64_t>(i);
    a.values.push_back(static_cast<double>(i % 3));
    many.values.push_back(std::floor(100 * Stream(1).uniform(k)));
    x.values.push_back(Stream(2).normal(k));
    shifted.values.push_back(1e3 * static_cast<double>(i % 3) + x.values.back());
  }
  EXPECT_NEAR(between(a, a), 1, 1e-12);
  EXPECT_LT(between(a, many), 0.3);  // 0.41 without the correction
  EXPECT_LT(between(many, x), 0.3);
  EXPECT_GT(between(a, shifted), 0.9);
  EXPECT_EQ(between(a, shifted), between(shifted, a));
}

}  // namespace
}  // namespace slimbayes
