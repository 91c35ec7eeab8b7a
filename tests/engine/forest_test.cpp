#include "slimbayes/engine/classes/forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

namespace slimbayes::engine {
namespace {

constexpr double kFloat = 6e-8;  // float32 rounds a number below 1 by less

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
  EXPECT_NEAR(found.mean[0], first / 5, kFloat);
  EXPECT_NEAR(found.mean[1], 1 - first / 5, kFloat);
  EXPECT_NEAR(found.mean[2], second / 5, kFloat);
  EXPECT_NEAR(found.entropy[0], beta_entropy(first, 5 - first), 1e-4);
  EXPECT_NEAR(found.entropy[1], beta_entropy(second, 5 - second), 1e-4);
}

TEST(LeafPosterior, OfTheRootAloneCountsOneRowOfTheClasses) {
  const LeafPosterior found = leaf_posterior({{{-1, 0, 0}}, {2, 0, 1}}, 3, 5.0);
  EXPECT_NEAR(found.mean[0], (2 + 1.0 / 3) / 4, kFloat);
  EXPECT_NEAR(found.mean[1], (1.0 / 3) / 4, kFloat);
}

TEST(LeafPosterior, TendsToTheCountsAndToTheNodeAbove) {
  const LeafPosterior own = leaf_posterior(stump(), 2, 1e-9), parent = leaf_posterior(stump(), 2, 1e9);
  EXPECT_NEAR(own.mean[2], 1.0 / 3, kFloat);
  EXPECT_NEAR(parent.mean[0], 4.5 / 7, kFloat);
  EXPECT_NEAR(parent.mean[2], 4.5 / 7, kFloat);
}

// A chain of nodes with a hundred million rows of class 0, and none of class 1: its mean falls by 1e-12 a
// node. A mean of 0 would give a row of that class an infinite log score.
TEST(LeafPosterior, NeverSaysThatAClassIsImpossible) {
  constexpr int32_t kDepth = 10;
  Tree chain;
  for (int32_t i = 0; i < kDepth; ++i) chain.nodes.push_back({0, 0, 2 * kDepth - i});
  for (int32_t leaf = 0; leaf <= kDepth; ++leaf) chain.nodes.push_back({-1, 0, leaf});
  chain.counts.assign(2 * (kDepth + 1), 0);
  for (size_t leaf = 0; leaf <= kDepth; ++leaf) chain.counts[2 * leaf] = leaf == 0 ? 100000000 : 1;
  ASSERT_NO_THROW(check_tree(chain, 1, 2));
  const LeafPosterior found = leaf_posterior(chain, 2, 1e-4);
  EXPECT_GT(found.mean[1], 0);
  EXPECT_LT(found.mean[1], 1e-37);
  EXPECT_EQ(found.mean[0], 1);
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

TEST(ForestSpec, ComesBackFromItsArrays) {
  const Tree deep{{{0, 0.5f, 4}, {1, 2.0f, 3}, {-1, 0, 0}, {-1, 0, 1}, {-1, 0, 2}}, {1, 0, 0, 2, 3, 1}};
  const ForestSpec spec = forest_spec({stump(), deep}, 2, 2, 0.5);
  const std::vector<Tree> trees = trees_of(spec);
  ASSERT_EQ(trees.size(), 2);
  EXPECT_EQ(trees[1].counts, deep.counts);
  const float row[] = {0.2f, 3};
  EXPECT_EQ(leaf_of(trees[1].nodes, row), leaf_of(deep.nodes, row));
  const std::vector<std::function<void(ForestSpec&)>> damages = {
      [](ForestSpec& f) { f.columns.pop_back(); },
      [](ForestSpec& f) { f.sizes[0] = int64_t{1} << 62; },
      [](ForestSpec& f) { f.sizes[1] = -1; },
      [](ForestSpec& f) { f.sizes[1] = 1; },
      [](ForestSpec& f) { f.sizes.pop_back(); },
      [](ForestSpec& f) { f.sizes.clear(); },
      [](ForestSpec& f) { f.counts.push_back(1); },
      [](ForestSpec& f) { f.classes = 1; },
      [](ForestSpec& f) { f.classes = int64_t{1} << 40; },
      [](ForestSpec& f) { f.inputs = 1; },
      [](ForestSpec& f) { f.parent_rows = 0; },
  };
  for (size_t i = 0; i < damages.size(); ++i) {
    ForestSpec broken = spec;
    damages[i](broken);
    EXPECT_THROW(trees_of(broken), std::invalid_argument) << i;
  }
}

}  // namespace
}  // namespace slimbayes::engine
