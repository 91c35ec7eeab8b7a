#include "slimbayes/methods/plain/tree.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace slimbayes {
namespace {

std::vector<int32_t> all_of(const ClassRows& rows) {
  std::vector<int32_t> all(static_cast<size_t>(rows.rows));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Rows of normal numbers with random classes.
struct Noise {
  at::Tensor x, y;
  explicit Noise(int64_t n, int64_t d, int64_t classes)
      : x(Stream(3).split("x").normal({n, d}, at::kFloat)),
        y((Stream(3).split("y").uniform({n}) * classes).floor().to(at::kLong)) {}
};

TEST(GrownTree, HasLeavesOfOneClassWhereInputsDiffer) {
  const Noise made(300, 4, 3);
  const ClassRows rows(made.x, made.y, 3);
  for (const int64_t tried : {1, 2, 4}) {
    const Tree tree = grown_tree(rows, all_of(rows), tried, Stream(1));
    EXPECT_NO_THROW(check_tree(tree, 4, 3));
    EXPECT_EQ(std::accumulate(tree.counts.begin(), tree.counts.end(), 0), 300);
    for (int64_t i = 0; i < 300; ++i) {
      const int32_t leaf = leaf_of(tree.nodes, made.x.const_data_ptr<float>() + i * 4);
      for (int32_t k = 0; k < 3; ++k)
        EXPECT_EQ(tree.counts.at(static_cast<size_t>(leaf * 3 + k)) > 0, k == made.y[i].item<int64_t>());
    }
  }
}

TEST(GrownTree, KeepsRowsOfEqualInputsInOneLeaf) {
  const ClassRows rows(at::ones({5, 2}), at::tensor({0, 1, 1, 0, 1}), 2);
  const Tree tree = grown_tree(rows, all_of(rows), 2, Stream(1));
  EXPECT_EQ(tree.nodes.size(), 1u);
  EXPECT_EQ(tree.counts, (std::vector<int32_t>{2, 3}));
}

TEST(GrownTree, SplitsAtTheColumnThatTellsMost) {
  const at::Tensor y = at::arange(100).remainder(2);
  at::Tensor x = Stream(4).normal({100, 6}, at::kFloat);
  x.select(1, 3).copy_(y * 20 - 10);
  const ClassRows rows(x, y, 2);
  const Tree tree = grown_tree(rows, all_of(rows), 6, Stream(1));
  ASSERT_EQ(tree.nodes.size(), 3u);  // one cut between -10 and 10
  EXPECT_EQ(tree.nodes[0].column, 3);
}

TEST(GrownTree, CutsBetweenNeighbouringNumbers) {
  const float low = 1, high = std::nextafter(low, 2.0f);
  const ClassRows rows(at::tensor({low, high}).view({2, 1}), at::tensor({0, 1}), 2);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Tree tree = grown_tree(rows, all_of(rows), 1, Stream(seed));
    EXPECT_NE(leaf_of(tree.nodes, &low), leaf_of(tree.nodes, &high));
  }
}

TEST(GrownTree, GrowsOnTheRowsThatItIsGiven) {
  const Noise made(50, 2, 2);
  const ClassRows rows(made.x, made.y, 2);
  const Tree tree = grown_tree(rows, {3, 4, 7}, 2, Stream(1));
  EXPECT_EQ(std::accumulate(tree.counts.begin(), tree.counts.end(), 0), 3);
}

}  // namespace
}  // namespace slimbayes
