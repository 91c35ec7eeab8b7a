#include "slimbayes/train/plan.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slimbayes {
namespace {

std::vector<at::Tensor> all_of(const EpochBatches& batches) {
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < batches.size(); ++i) all.push_back(batches[i]);
  return all;
}

TEST(PlanOfWindows, HasEveryRowOnceAndReadsEachBlockInOnePlace) {
  constexpr int64_t kRows = 10007, kBatches = 79, kBlock = 64, kWindow = 640;
  const EpochBatches batches = plan_of_windows({0, kRows}, kBatches, kWindow, kBlock)(Stream(2));
  const std::vector<at::Tensor> all = all_of(batches);
  EXPECT_EQ(all.size(), static_cast<size_t>(kBatches));
  const at::Tensor order = at::cat(all);
  EXPECT_TRUE(at::equal(std::get<0>(order.sort()), at::arange(kRows)));
  for (const at::Tensor& batch : all) EXPECT_NEAR(batch.size(0), kRows / kBatches, 1);
  // The rows of a block come within a window of so many rows.
  for (int64_t block = 0; block * kBlock < kRows; ++block) {
    const at::Tensor places = (order.div(kBlock, "floor") == block).nonzero();
    EXPECT_LT((places.max() - places.min()).item<int64_t>(), kWindow);
  }
  // A batch is not a run of rows: those of a window are mixed.
  EXPECT_GT(std::get<0>(at::unique_dim(all[1].div(kBlock, "floor"), 0)).size(0), 5);
  EXPECT_TRUE(at::equal(batches[40], all[40]));  // in any order
  EXPECT_TRUE(at::equal(batches[3], all[3]));
}

TEST(PlanOfWindows, IsAFunctionOfTheStreamAndOfAnySize) {
  for (const int64_t rows : {1, 5, 64, 65, 700}) {
    for (const int64_t window : {8, 64, 1000}) {
      const BatchPlan plan = plan_of_windows({0, rows}, std::min<int64_t>(rows, 3), window, 8);
      const at::Tensor order = at::cat(all_of(plan(Stream(1))));
      EXPECT_TRUE(at::equal(std::get<0>(order.sort()), at::arange(rows))) << rows << " " << window;
      EXPECT_TRUE(at::equal(order, at::cat(all_of(plan(Stream(1))))));
    }
  }
  EXPECT_THROW(plan_of_windows({0, 10}, 2, 4, 8), std::invalid_argument);
  EXPECT_THROW(plan_of_windows({0}, 2, 8, 8), std::invalid_argument);
}

TEST(PlanOfWindows, TakesOfEachPartTheSameShareInEveryBatch) {
  const std::vector<int64_t> parts = {0, 300, 1000, 1650};
  const std::vector<at::Tensor> batches = all_of(plan_of_windows(parts, 16, 64, 8)(Stream(3)));
  EXPECT_TRUE(at::equal(std::get<0>(at::cat(batches).sort()), at::arange(1650)));
  for (const at::Tensor& batch : batches)
    for (size_t p = 0; p < 3; ++p) {
      const auto rows = ((batch >= parts[p]).logical_and_(batch < parts[p + 1])).sum().item<double>();
      EXPECT_NEAR(rows, static_cast<double>(parts[p + 1] - parts[p]) / 16, 1);
    }
  EXPECT_THROW(plan_of_windows({0, 31, 1000}, 16, 64, 8), std::invalid_argument);
}

TEST(PlanByLength, HasEveryRowOnceAndLittlePadding) {
  const at::Tensor lengths = (1 + 40 * Stream(1).uniform({1003})).to(at::kLong);
  const BatchPlan plan = plan_by_length(lengths, 32);
  const std::vector<at::Tensor> batches = all_of(plan(Stream(2)));
  EXPECT_EQ(batches.size(), 32u);  // ceil(1003 / 32)
  EXPECT_TRUE(at::equal(std::get<0>(at::cat(batches).sort()), at::arange(1003)));
  int64_t padded = 0;
  for (const at::Tensor& batch : batches) {
    const at::Tensor own = lengths.index_select(0, batch);
    padded += own.max().item<int64_t>() * own.size(0);
  }
  const auto tokens = lengths.sum().item<int64_t>();
  EXPECT_LT(padded, tokens + tokens / 10);  // random batches would pad by about 90 %
}

TEST(PlanByLength, IsAFunctionOfTheStream) {
  const BatchPlan plan = plan_by_length(at::arange(1, 101), 10);
  EXPECT_TRUE(at::equal(at::cat(all_of(plan(Stream(1)))), at::cat(all_of(plan(Stream(1))))));
  EXPECT_FALSE(at::equal(at::cat(all_of(plan(Stream(1)))), at::cat(all_of(plan(Stream(2))))));
  EXPECT_THROW(plan_by_length(at::arange(0), 10), std::invalid_argument);
  EXPECT_THROW(plan_by_length(at::arange(4), 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
