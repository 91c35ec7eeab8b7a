#include "slimbayes/data/stream/block_means.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"
#include "slimbayes/data/stream/row_cache.h"

namespace slimbayes {
namespace {

constexpr int64_t kMeanRows = 40 * RowCache::kBlock;

BlockMeans means_of(const at::Tensor& target) {
  BlockMeans means;
  for (int64_t low = 0; low < kMeanRows; low += 1000)
    means.add(target.narrow(0, low, std::min<int64_t>(1000, kMeanRows - low)));
  return means;
}

TEST(BlockMeans, OfShuffledRowsVaryByChanceAlone) {
  const at::Tensor y = 1e6 + Stream(3).normal({kMeanRows});
  for (const BlockMeans& means : {means_of(y), means_of(y.gt(1e6 + 1).to(at::kLong).unsqueeze(1))}) {
    EXPECT_NEAR(means.spread(RowCache::kBlock), 1.0 / 64, 0.006);
    EXPECT_EQ(means.note(RowCache::kBlock), "");
  }
}

TEST(BlockMeans, OfSortedRowsAreNoted) {
  const at::Tensor y = std::get<0>(at::sort(1e6 + Stream(3).normal({kMeanRows})));
  for (const BlockMeans& means : {means_of(y), means_of(y.gt(1e6 + 1).to(at::kLong))}) {
    EXPECT_NEAR(means.spread(1), 1, 0.05);
    EXPECT_NEAR(means.spread(4 * RowCache::kBlock), std::sqrt(0.9) / 2, 0.03);
    EXPECT_NE(means.note(4 * RowCache::kBlock).find("`.shuffle_rows`"), std::string::npos);
    EXPECT_EQ(means.spread(kMeanRows), 0);
    EXPECT_EQ(means.note(kMeanRows), "");
  }
}

}  // namespace
}  // namespace slimbayes
