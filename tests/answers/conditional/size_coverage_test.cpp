#include "slimbayes/answers/conditional/size_coverage.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"
#include "slimbayes/density/unit.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

/// Scores of Gaussian answers with these sds to targets y.
RowScores gaussian_rows(const at::Tensor& mean, const at::Tensor& sd, const at::Tensor& y, double level) {
  const Regression p{mean, sd.square(), at::zeros_like(sd)};
  return row_scores(p, y, interval(p, level), {});
}

TEST(coverage_by_size, OfCorrectIntervalsHoldsTheLevelInEachBin) {
  const at::Tensor mean = at::zeros({5000}, at::kDouble), sd = 0.1 + Stream(1).uniform({5000}),
                   y = sd * Stream(2).normal({5000});
  const auto found = coverage_by_size(gaussian_rows(mean, sd, y, 0.9), 0.9);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->bins.size(), 5u);
  double before = 0;
  for (const SizeBin& bin : found->bins) {
    EXPECT_EQ(bin.rows, 1000);
    EXPECT_GT(bin.width, before);
    before = bin.width;
    EXPECT_NEAR(bin.gap, (bin.coverage - 0.9) / std::sqrt(0.09 / 1000), 1e-9);
  }
  EXPECT_LT(found->largest_gap, 4);
}

TEST(coverage_by_size, FindsWidthsThatSayNothing) {
  const at::Tensor mean = at::zeros({5000}, at::kDouble), sd = 0.1 + Stream(1).uniform({5000}),
                   y = 0.6 * Stream(2).normal({5000});
  const auto found = coverage_by_size(gaussian_rows(mean, sd, y, 0.9), 0.9);
  ASSERT_TRUE(found);
  EXPECT_LT(found->bins.front().gap, -10);
  EXPECT_GT(found->bins.back().coverage, 0.95);
  EXPECT_EQ(found->largest_gap, -found->bins.front().gap);
  EXPECT_NE(found->says.find("bin 1 of 5"), std::string::npos) << found->says;
}

TEST(coverage_by_size, OneWidthIsOneBinAlsoWhereRoundingMovesIt) {
  const at::Tensor mean = 1e6 * Stream(1).normal({200}), sd = at::full({200}, 0.7, at::kDouble);
  const RowScores scores = gaussian_rows(mean, sd, mean, 0.9);
  EXPECT_LT(scores.size.min().item<double>(), scores.size.max().item<double>())
      << "rounding moves the widths";
  const auto found = coverage_by_size(scores, 0.9);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->bins.size(), 1u);
  EXPECT_EQ(found->bins[0].rows, 200);
  EXPECT_NE(found->says.find("one width"), std::string::npos);
}

TEST(coverage_by_size, NeedsFiftyRowsWithIntervals) {
  const auto rows = [](int64_t n) { return at::arange(1, n + 1, at::kDouble); };
  EXPECT_FALSE(coverage_by_size(gaussian_rows(rows(49), rows(49), rows(49), 0.9), 0.9));
  EXPECT_TRUE(coverage_by_size(gaussian_rows(rows(50), rows(50), rows(50), 0.9), 0.9));
  const Regression p{rows(60), rows(60), rows(60)};
  EXPECT_FALSE(coverage_by_size(row_scores(p, rows(60), {}, {}), 0.9));
}

}  // namespace
}  // namespace slimbayes
