#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/train/checkpoint.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {
namespace {

TEST(StepLoss, OfTheProcessorIsReadAndOfADeviceIsLeftThere) {
  EXPECT_EQ(StepLoss(2.5).value(), 2.5);
  const StepLoss read(at::full({1}, 2.5f));
  EXPECT_FALSE(read.pending().defined());
  EXPECT_EQ(read.value(), 2.5);
  EXPECT_TRUE(StepLoss(at::empty({}, at::device(at::kMeta))).pending().defined());
}

TEST(LossSum, AddsLossesAndGoesOnFromANumber) {
  LossSum sum(1.5);
  sum.add(2.0);
  EXPECT_FALSE(sum.pending());
  EXPECT_EQ(sum.value(), 3.5);
  EXPECT_EQ(sum.value(), 3.5);
}

TEST(LossSum, IsNanAfterANumberThatIsNotFinite) {
  for (const double seen : {1e300, std::numeric_limits<double>::infinity(), std::nan("")}) {
    LossSum sum(1);
    sum.watch(at::full({1}, seen, at::kDouble));
    EXPECT_TRUE(sum.pending());
    sum.add(2.0);
    EXPECT_TRUE(sum.pending());
    const double found = sum.value();
    EXPECT_FALSE(sum.pending());
    if (std::isfinite(seen)) {
      EXPECT_EQ(found, 3);
    } else {
      EXPECT_TRUE(std::isnan(found));
    }
    sum.add(1.0);
    EXPECT_EQ(std::isnan(sum.value()), std::isnan(found));
  }
}

}  // namespace
}  // namespace slimbayes
