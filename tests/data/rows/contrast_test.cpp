#include "slimbayes/data/rows/contrast.h"

#include <gtest/gtest.h>

#include <cmath>

namespace slimbayes {
namespace {

TEST(unit_ranks, HaveMeanZeroAndSdOne) {
  const std::vector<double> ranks = unit_ranks({10, 1e9, 10, std::nan(""), -5});
  EXPECT_DOUBLE_EQ(ranks[0], ranks[2]);
  EXPECT_EQ(ranks[3], 0);
  EXPECT_LT(ranks[4], ranks[0]);
  EXPECT_LT(ranks[0], ranks[1]);
  double mean = 0, square = 0;
  for (const double r : ranks) mean += r / 5, square += r * r / 5;
  EXPECT_NEAR(mean, 0, 1e-12);
  EXPECT_NEAR(square, 1, 1e-12);
  EXPECT_EQ(unit_ranks({3, 3, 3}), (std::vector<double>{0, 0, 0}));
}

/// Features of 300 rows: noise, and a column that rises from row to row.
std::vector<double> feature(size_t i) {
  std::vector<double> x;
  for (uint64_t row = 0; row < 300; ++row)
    x.push_back(i < 4 ? Stream(i).normal(row) : static_cast<double>(row));
  return unit_ranks(x);
}

TEST(contrast_p, IsSmallWhereAFeatureTellsTheRows) {
  EXPECT_LE(contrast_p(300, {297, 298, 299}, 5, feature, Stream(1)), 1e-3);
  EXPECT_GT(contrast_p(300, {297, 298, 299}, 4, feature, Stream(1)), 0.01);
  EXPECT_EQ(contrast_p(300, {299}, 5, feature, Stream(1)), 1);  // one row is told from the others by chance
}

TEST(contrast_p, IsUniformUnderChance) {
  int small = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Stream s = Stream(seed).split("rows");
    std::vector<int64_t> rows;
    for (uint64_t i = 0; rows.size() < 3; ++i)
      if (const auto row = static_cast<int64_t>(s.bits(i) % 300); std::ranges::find(rows, row) == rows.end())
        rows.push_back(row);
    small += contrast_p(300, rows, 5, feature, Stream(1)) < 0.1;
  }
  EXPECT_LE(small, 10);
}

}  // namespace
}  // namespace slimbayes
