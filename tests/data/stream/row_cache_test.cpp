#include "slimbayes/data/stream/row_cache.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  const fs::path path = fs::path(testing::TempDir()) / "row cache";
  fs::create_directories(path);
  return path;
}

TEST(RowCache, HasTheRowsThatWereAdded) {
  constexpr int64_t kRows = 3 * RowCache::kBlock + 17;
  const Stream stream(3);
  const Batch all{{stream.normal({kRows, 5}, at::kFloat), at::arange(kRows)}, stream.normal({kRows})};
  RowCache cache(folder(), kRows, 36);
  for (int64_t low = 0; low < kRows; low += 1000) {
    const auto part = [&](const at::Tensor& x) {
      return x.narrow(0, low, std::min<int64_t>(1000, kRows - low));
    };
    cache.add({{part(all.inputs[0]), part(all.inputs[1])}, part(all.target)});
  }
  EXPECT_EQ(cache.size(), kRows);
  for (const int64_t window : {1, 20000}) {
    const std::shared_ptr<const Source> source = cache.source(window);
    EXPECT_EQ(source->size(), kRows);
    const auto same = [&](const at::Tensor& rows) {
      const Batch batch = source->rows(rows, {});
      EXPECT_TRUE(at::equal(batch.inputs[0], all.inputs[0].index_select(0, rows)));
      EXPECT_TRUE(at::equal(batch.inputs[1], all.inputs[1].index_select(0, rows)));
      EXPECT_TRUE(at::equal(batch.target, all.target.index_select(0, rows)));
    };
    same(at::arange(kRows));
    for (int i = 0; i < 20; ++i)
      same(stream.split("rows").split(static_cast<uint64_t>(i)).permutation(kRows).narrow(0, 0, 300));
    same(at::tensor({kRows - 1, int64_t{0}, int64_t{0}, kRows - 1}, at::kLong));
    EXPECT_THROW(source->rows(at::tensor({kRows}, at::kLong), {}), std::invalid_argument);
    EXPECT_THROW(source->rows(at::tensor({int64_t{-1}}, at::kLong), {}), std::invalid_argument);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { same(at::arange(t * 100, kRows, 7)); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(source->on_disk()->block, RowCache::kBlock);
  }
}

// Of several processes each has a part of the rows, and gives these alone.
TEST(RowCache, HasThePartOfAProcess) {
  RowCache cache(folder(), 10, 8);
  cache.add({{at::arange(10, at::kFloat).unsqueeze(1)}, at::arange(10, at::kFloat)});
  const std::shared_ptr<const Source> source = cache.source(10, {7, 10, 5}, 1);
  EXPECT_EQ(source->size(), 22);
  EXPECT_EQ(source->on_disk()->parts, (std::vector<int64_t>{0, 7, 17, 22}));
  EXPECT_TRUE(at::equal(source->rows(at::tensor({16, 7}, at::kLong), {}).target,
                        at::tensor({9.0F, 0.0F}, at::kFloat)));
  for (const int64_t row : {6, 17})
    EXPECT_THROW(source->rows(at::tensor({row}, at::kLong), {}), std::invalid_argument);
}

TEST(RowCache, LeavesNothingInItsFolder) {
  RowCache cache(folder(), 10, 8);
  cache.add({{at::ones({10, 1}, at::kFloat)}, at::ones({10}, at::kFloat)});
  const std::shared_ptr<const Source> source = cache.source(10);
  EXPECT_TRUE(fs::is_empty(folder()));
  EXPECT_EQ(source->rows(at::arange(10), {}).target.sum().item<double>(), 10);
}

TEST(RowCache, RefusesAFolderWithoutRoom) {
  try {
    RowCache(folder(), int64_t{1} << 50, 100);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("expected room for"), std::string::npos) << error.what();
  }
  EXPECT_THROW(RowCache(folder() / "absent", 10, 8), DataError);
}

}  // namespace
}  // namespace slimbayes
