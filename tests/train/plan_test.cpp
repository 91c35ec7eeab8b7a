#include "slimbayes/train/plan.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(PlanByLength, HasEveryRowOnceAndLittlePadding) {
  const at::Tensor lengths = (1 + 40 * Stream(1).uniform({1003})).to(at::kLong);
  const BatchPlan plan = plan_by_length(lengths, 32);
  const std::vector<at::Tensor> batches = plan(Stream(2));
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
  EXPECT_TRUE(at::equal(at::cat(plan(Stream(1))), at::cat(plan(Stream(1)))));
  EXPECT_FALSE(at::equal(at::cat(plan(Stream(1))), at::cat(plan(Stream(2)))));
  EXPECT_THROW(plan_by_length(at::arange(0), 10), std::invalid_argument);
  EXPECT_THROW(plan_by_length(at::arange(4), 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
