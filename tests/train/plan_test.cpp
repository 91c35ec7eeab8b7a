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

at::Tensor counts_of(const EpochBatches& epoch, int64_t rows) {
  return at::bincount(at::cat(all_of(epoch)), {}, rows).to(at::kDouble);
}

TEST(PlanOfWeights, DrawsARowAtMostOnceMoreOrLessThanItsWeightSays) {
  constexpr int64_t kRows = 200, kEpochs = 400;
  const at::Tensor weights = 0.05 + 4 * Stream(1).uniform({kRows}).square();
  const at::Tensor expected = weights / weights.mean();
  const BatchPlan plan = plan_of_weights(weights, 7);
  at::Tensor sum = at::zeros({kRows}, at::kDouble);
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const EpochBatches batches = plan(Stream(2).split(epoch));
    EXPECT_EQ(batches.size(), 7);
    const at::Tensor counts = counts_of(batches, kRows);
    EXPECT_EQ(counts.sum().item<double>(), kRows);
    EXPECT_LT((counts - expected).abs().max().item<double>(), 1 + 1e-9);
    sum += counts;
  }
  // A count is one of two neighbours of its expectation, so its sd is at most 1/2, that of the mean 0.025.
  EXPECT_LT((sum / kEpochs - expected).abs().max().item<double>(), 6 * 0.025);
}

TEST(PlanOfWeights, MixesTheCopiesOfARowWithTheOthers) {
  const at::Tensor weights = at::cat({at::full({10}, 50.0, at::kDouble), at::ones({490}, at::kDouble)});
  for (const at::Tensor& batch : all_of(plan_of_weights(weights, 10)(Stream(4)))) {
    EXPECT_EQ(batch.size(0), 50);
    EXPECT_GT((batch < 10).sum().item<int64_t>(), 8);  // about half of the rows drawn are of the ten
    EXPECT_GT((batch >= 10).sum().item<int64_t>(), 8);
  }
}

TEST(PlanOfWeights, IsAFunctionOfTheStream) {
  const at::Tensor weights = 0.5 + Stream(1).uniform({101});
  const BatchPlan plan = plan_of_weights(weights, 5);
  EXPECT_TRUE(at::equal(at::cat(all_of(plan(Stream(1)))), at::cat(all_of(plan(Stream(1))))));
  EXPECT_FALSE(at::equal(at::cat(all_of(plan(Stream(1)))), at::cat(all_of(plan(Stream(2))))));
  EXPECT_THROW(plan_of_weights(at::empty({0}, at::kDouble), 1), std::invalid_argument);
  EXPECT_THROW(plan_of_weights(weights, 0), std::invalid_argument);
}

TEST(PlanOfWeights, OfEqualWeightsIsThatOfEqualBatches) {
  const at::Tensor weights = at::full({101}, 2.5, at::kDouble);
  const std::vector<at::Tensor> equal = all_of(plan_of_equal_batches(101, 5)(Stream(3))),
                                own = all_of(plan_of_weights(weights, 5)(Stream(3)));
  ASSERT_EQ(own.size(), equal.size());
  for (size_t i = 0; i < own.size(); ++i) EXPECT_TRUE(at::equal(own[i], equal[i]));
}

TEST(PlanByLength, DrawsRowsByTheirWeights) {
  const at::Tensor lengths = (1 + 40 * Stream(1).uniform({300})).to(at::kLong);
  const at::Tensor weights = 0.1 + Stream(2).uniform({300});
  const at::Tensor counts = counts_of(plan_by_length(lengths, 32, weights)(Stream(3)), 300);
  EXPECT_EQ(counts.sum().item<double>(), 300);
  EXPECT_LT((counts - weights / weights.mean()).abs().max().item<double>(), 1 + 1e-9);
  EXPECT_GT(counts.max().item<double>(), 1);
}

}  // namespace
}  // namespace slimbayes
