#include "slimbayes/methods/plain/tree.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
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
      const int32_t leaf = tree.leaf_of(made.x.const_data_ptr<float>() + i * 4);
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
    EXPECT_NE(tree.leaf_of(&low), tree.leaf_of(&high));
  }
}

TEST(GrownTree, GrowsOnTheRowsThatItIsGiven) {
  const Noise made(50, 2, 2);
  const ClassRows rows(made.x, made.y, 2);
  const Tree tree = grown_tree(rows, {3, 4, 7}, 2, Stream(1));
  EXPECT_EQ(std::accumulate(tree.counts.begin(), tree.counts.end(), 0), 3);
}

/// A root with two leaves.
Tree stump() { return {{{0, 0.5f, 2}, {-1, 0, 0}, {-1, 0, 1}}, {3, 0, 1, 2}}; }

/// The expectation of the entropy of two classes with p ~ Beta(a, b), by the midpoint rule.
double beta_entropy(double a, double b) {
  const double log_norm = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  double sum = 0;
  constexpr int kSteps = 400000;
  for (int i = 0; i < kSteps; ++i) {
    const double p = (i + 0.5) / kSteps, q = 1 - p;
    sum -= std::exp(log_norm + (a - 1) * std::log(p) + (b - 1) * std::log(q)) *
           (p * std::log(p) + q * std::log(q)) / kSteps;
  }
  return sum;
}

TEST(LeafPosterior, IsTheDirichletAroundTheNodeAbove) {
  const LeafPosterior found = leaf_posterior(stump(), 2, 2.0);
  const double above = 4.5 / 7;  // 4 of 6 rows, and one row of equally probable classes
  const double first = 3 + 2 * above, second = 1 + 2 * above;
  EXPECT_NEAR(found.mean[0], first / 5, 1e-14);
  EXPECT_NEAR(found.mean[1], 1 - first / 5, 1e-14);
  EXPECT_NEAR(found.mean[2], second / 5, 1e-14);
  EXPECT_NEAR(found.entropy[0], beta_entropy(first, 5 - first), 1e-4);
  EXPECT_NEAR(found.entropy[1], beta_entropy(second, 5 - second), 1e-4);
}

TEST(LeafPosterior, OfTheRootAloneCountsOneRowOfTheClasses) {
  const LeafPosterior found = leaf_posterior({{{-1, 0, 0}}, {2, 0, 1}}, 3, 5.0);
  EXPECT_NEAR(found.mean[0], (2 + 1.0 / 3) / 4, 1e-15);
  EXPECT_NEAR(found.mean[1], (1.0 / 3) / 4, 1e-15);
}

TEST(LeafPosterior, TendsToTheCountsAndToTheNodeAbove) {
  const LeafPosterior own = leaf_posterior(stump(), 2, 1e-9), parent = leaf_posterior(stump(), 2, 1e9);
  EXPECT_NEAR(own.mean[2], 1.0 / 3, 1e-8);
  EXPECT_NEAR(parent.mean[0], 4.5 / 7, 1e-8);
  EXPECT_NEAR(parent.mean[2], 4.5 / 7, 1e-8);
}

TEST(CheckTree, RefusesEachDamage) {
  EXPECT_NO_THROW(check_tree(stump(), 1, 2));
  const std::vector<std::function<void(Tree&)>> damages = {
      [](Tree& t) { t.nodes.clear(); },
      [](Tree& t) { t.nodes[0].column = 1; },       // beyond the columns
      [](Tree& t) { t.nodes[0].right = 0; },        // above itself
      [](Tree& t) { t.nodes[0].right = 1; },        // both children are one node
      [](Tree& t) { t.nodes[0].right = 3; },        // beyond the nodes
      [](Tree& t) { t.nodes[0].right = -2; },       //
      [](Tree& t) { t.nodes[0].threshold = NAN; },  //
      [](Tree& t) { t.nodes[1].right = 1; },        // leaves out of order
      [](Tree& t) { t.nodes[2].right = 5; },        // beyond the leaves
      [](Tree& t) { t.nodes[2].column = 0; },       // an inner node without children
      [](Tree& t) {
        t.nodes.push_back({-1, 0, 2});
        t.counts.insert(t.counts.end(), {1, 1});
      },  // not reached
      [](Tree& t) { t.counts[0] = -1; },
      [](Tree& t) {
        t.counts = {0, 0, 1, 2};
      },
      [](Tree& t) { t.counts.resize(6, 1); },
  };
  for (size_t i = 0; i < damages.size(); ++i) {
    Tree tree = stump();
    damages[i](tree);
    EXPECT_THROW(check_tree(tree, 1, 2), std::invalid_argument) << i;
  }
}

}  // namespace
}  // namespace slimbayes
