#include "slimbayes/method/disk_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/methods/disk_source.h"
#include "tests/train/thread_ranks.h"

namespace slimbayes {
namespace {

Dataset numbered(int64_t rows) {
  const at::Tensor x = at::arange(rows, at::kDouble);
  return regression_data(x.unsqueeze(1), x);
}

TEST(DrawnRows, OnDiskAscendAndLieInEveryStretch) {
  for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{{10000, 100}, {10000, 6001}, {7, 7}}) {
    const Dataset rows = on_disk(numbered(n));
    const at::Tensor drawn = drawn_rows(rows, k, Stream(3));
    ASSERT_EQ(drawn.size(0), k);
    EXPECT_GE(drawn[0].item<int64_t>(), 0);
    EXPECT_LT(drawn[k - 1].item<int64_t>(), n);
    EXPECT_TRUE((drawn.diff() > 0).all().item<bool>());
    EXPECT_TRUE(at::equal(drawn, drawn_rows(rows, k, Stream(3))));
    EXPECT_NEAR(drawn.to(at::kDouble).mean().item<double>() / static_cast<double>(n - 1), 0.5, 0.01);
  }
}

TEST(DrawnRows, InMemoryAreAPermutationsFirst) {
  EXPECT_TRUE(at::equal(drawn_rows(numbered(50), 20, Stream(3)), Stream(3).permutation(50).narrow(0, 0, 20)));
}

TEST(TakenRows, AreTheSameOnAllRanks) {
  const Dataset rows = numbered(5000);
  const at::Tensor index = drawn_rows(on_disk(rows), 700, Stream(3));
  const Batch expected = rows.rows(index);
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    const Batch taken = taken_rows(on_disk(rows, &ranks), index, &ranks).all();
    EXPECT_TRUE(at::equal(taken.inputs[0], expected.inputs[0]));
    EXPECT_TRUE(at::equal(taken.target, expected.target));
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
}

TEST(SampleOfRank, StaysInTheRowsOfTheRank) {
  const at::Tensor index = drawn_rows(on_disk(numbered(1000)), 37, Stream(3));
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    const RankRows own = sample_of_rank(on_disk(numbered(1000), &ranks), index, &ranks);
    const at::Tensor y = own.rows.all().target;  // which throws for the rows of another rank
    EXPECT_TRUE(at::equal(y.to(at::kLong), index.narrow(0, own.first, y.size(0))));
    const at::Tensor count = at::full({1}, y.size(0), at::kDouble);
    ranks.sum(count);
    EXPECT_EQ(count.item<double>(), 37);
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
}

TEST(EnoughRows, AreCopiedFromDisk) {
  const Dataset rows = on_disk(numbered(3000)), enough = enough_rows(rows, Stream(3), nullptr);
  EXPECT_FALSE(are_on_disk(enough));
  EXPECT_TRUE(at::equal(enough.all().target, at::arange(3000, at::kDouble)));
}

}  // namespace
}  // namespace slimbayes
