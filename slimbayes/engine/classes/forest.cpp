#include "slimbayes/engine/classes/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <cstddef>
#include <limits>

#include "slimbayes/storage/check.h"

namespace slimbayes::engine {

namespace {

constexpr const char *kName = "extra-trees", *kBroken = "the model file is damaged";

double digamma(double x) {
  using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  return boost::math::digamma(x, InDouble());
}

/// Returns the numbers of training rows of each class in every node. [nodes * classes]
std::vector<double> node_counts(const Tree& tree, size_t classes) {
  std::vector<double> counts(tree.nodes.size() * classes);
  for (size_t i = tree.nodes.size(); i-- > 0;) {
    const Tree::Node& node = tree.nodes[i];
    const auto right = static_cast<size_t>(node.right);
    for (size_t k = 0; k < classes; ++k)
      counts[i * classes + k] = node.column < 0 ? tree.counts[right * classes + k]
                                                : counts[(i + 1) * classes + k] + counts[right * classes + k];
  }
  return counts;
}

}  // namespace

void check_tree(const Tree& tree, int64_t columns, int64_t classes) {
  const auto n = static_cast<int64_t>(tree.nodes.size());
  const int64_t leaves = std::ssize(tree.counts) / classes;
  std::vector<int8_t> reached(tree.nodes.size(), 0);
  int32_t next_leaf = 0;
  check(n > 0, kName, "nodes", "none", kBroken);
  reached[0] = 1;
  for (int64_t i = 0; i < n; ++i) {
    const auto& [column, threshold, right] = tree.nodes[static_cast<size_t>(i)];
    if (column < 0) {
      check(right == next_leaf++ && next_leaf <= leaves, kName, "leaves in their order", "others", kBroken);
      continue;
    }
    if (!(column < columns && i + 1 < right && right < n && std::isfinite(threshold)))
      refuse(kName, "nodes that follow the one above", fmt::format("node {}", i), kBroken);
    ++reached[static_cast<size_t>(i + 1)];
    check(reached[static_cast<size_t>(right)]++ == 0, kName, "one node above each", "two", kBroken);
  }
  check(next_leaf == leaves && std::ranges::all_of(reached, [](int8_t r) { return r == 1; }), kName,
        "one tree", "another structure", kBroken);
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    int64_t rows = 0;
    for (int64_t k = 0; k < classes; ++k) {
      const int32_t count = tree.counts[static_cast<size_t>(leaf * classes + k)];
      if (!(count >= 0)) refuse(kName, "counts of at least 0", std::to_string(count), kBroken);
      rows += count;
    }
    check(rows > 0, kName, "rows in each leaf", "none", kBroken);
  }
}

int32_t leaf_of(std::span<const Tree::Node> nodes, const float* row) {
  const Tree::Node* node = nodes.data();
  while (node->column >= 0)
    node = row[node->column] <= node->threshold ? node + 1 : nodes.data() + node->right;
  return node->right;
}

LeafPosterior leaf_posterior(const Tree& tree, int64_t classes, double parent_rows) {
  const auto k = static_cast<size_t>(classes), n = tree.nodes.size(), leaves = tree.counts.size() / k;
  const std::vector<double> counts = node_counts(tree, k);
  std::vector<double> above(n * k, 1.0 / static_cast<double>(classes)), weight(n, 1.0), alpha(leaves * k);
  for (size_t i = 0; i < n; ++i) {
    const Tree::Node& node = tree.nodes[i];
    double* const prior = &above[i * k];  // becomes the node's own parameters
    double total = weight[i];
    for (size_t c = 0; c < k; ++c) {
      prior[c] = weight[i] * prior[c] + counts[i * k + c];
      total += counts[i * k + c];
    }
    if (node.column < 0) {
      std::copy_n(prior, k, &alpha[static_cast<size_t>(node.right) * k]);
      continue;
    }
    for (const size_t child : {i + 1, static_cast<size_t>(node.right)}) {
      weight[child] = parent_rows;
      for (size_t c = 0; c < k; ++c) above[child * k + c] = prior[c] / total;
    }
  }
  LeafPosterior posterior;
  posterior.mean.resize(leaves * k);
  posterior.entropy.reserve(leaves);
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    const double* const own = &alpha[leaf * k];
    double total = 0, of_logs = 0;
    for (size_t c = 0; c < k; ++c) total += own[c];
    for (size_t c = 0; c < k; ++c) {
      const double mean = own[c] / total;
      of_logs += mean * digamma(own[c] + 1);
      // Far from every row of a class its mean falls below float32; a 0 would be a certainty that no rows
      // give.
      posterior.mean[leaf * k + c] = std::max(static_cast<float>(mean), std::numeric_limits<float>::min());
    }
    // E[-sum_k p_k log p_k], p ~ Dirichlet(own)
    posterior.entropy.push_back(static_cast<float>(digamma(total + 1) - of_logs));
  }
  return posterior;
}

ForestSpec forest_spec(const std::vector<Tree>& trees, int64_t inputs, int64_t classes, double parent_rows) {
  ForestSpec spec{.inputs = inputs, .classes = classes, .parent_rows = parent_rows};
  for (const Tree& tree : trees) {
    for (const Tree::Node& node : tree.nodes) {
      spec.columns.push_back(node.column);
      spec.thresholds.push_back(node.threshold);
      spec.rights.push_back(node.right);
    }
    spec.counts.insert(spec.counts.end(), tree.counts.begin(), tree.counts.end());
    spec.sizes.insert(spec.sizes.end(), {std::ssize(tree.nodes), std::ssize(tree.counts) / classes});
  }
  return spec;
}

std::vector<Tree> trees_of(const ForestSpec& spec) {
  const size_t all = spec.columns.size();
  check(spec.classes >= 2 && spec.parent_rows > 0 && std::isfinite(spec.parent_rows), kName,
        "two classes or more, and parent_rows above 0", "others", kBroken);
  const auto k = static_cast<size_t>(spec.classes);
  check(spec.thresholds.size() == all && spec.rights.size() == all && spec.sizes.size() % 2 == 0 &&
            spec.counts.size() % k == 0,
        kName, "the same number of columns, thresholds and right children", "others", kBroken);
  std::vector<Tree> trees;
  size_t node = 0, count = 0;
  for (size_t t = 0; t + 1 < spec.sizes.size(); t += 2) {
    const int64_t nodes = spec.sizes[t], leaves = spec.sizes[t + 1];
    const auto left = static_cast<int64_t>(all - node),
               held = static_cast<int64_t>((spec.counts.size() - count) / k);
    check(nodes > 0 && leaves > 0 && nodes <= left && leaves <= held, kName, "the nodes of each tree",
          "fewer", kBroken);
    Tree& tree = trees.emplace_back();
    tree.nodes.reserve(static_cast<size_t>(nodes));
    for (const size_t end = node + static_cast<size_t>(nodes); node < end; ++node)
      tree.nodes.push_back({spec.columns[node], spec.thresholds[node], spec.rights[node]});
    const auto first = spec.counts.begin() + static_cast<std::ptrdiff_t>(count);
    tree.counts.assign(first, first + static_cast<std::ptrdiff_t>(leaves * spec.classes));
    count += static_cast<size_t>(leaves) * k;
    check_tree(tree, spec.inputs, spec.classes);
  }
  check(!trees.empty() && node == all && count == spec.counts.size(), kName, "trees of all nodes", "others",
        kBroken);
  return trees;
}

}  // namespace slimbayes::engine
