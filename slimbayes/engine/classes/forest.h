#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slimbayes::engine {

/// A tree of classes. Node 0 is the root. The left child of a node is the next one.
struct Tree {
  struct Node {
    int32_t column;   // of the split; -1: a leaf
    float threshold;  // rows with x <= threshold belong to the left child
    int32_t right;    // the right child; of a leaf its number
  };
  std::vector<Node> nodes;
  std::vector<int32_t> counts;  // [leaves * classes] training rows of each class
};

/// Returns the leaf of a row, whose columns lie one after another, in the tree that begins with these nodes.
int32_t leaf_of(std::span<const Tree::Node> nodes, const float* row);

/// Throws std::invalid_argument unless the tree's nodes form one tree whose leaves are numbered from 0, its
/// columns lie below `columns`, and each leaf has rows. For trees from a file.
void check_tree(const Tree& tree, int64_t columns, int64_t classes);

/// A forest of classes as data: the trees one after another.
struct ForestSpec {
  int64_t inputs = 0, classes = 0;
  std::vector<int32_t> columns = {};   // Tree::Node
  std::vector<float> thresholds = {};  // as many
  std::vector<int32_t> rights = {};    // as many
  std::vector<int32_t> counts = {};    // [leaves, classes]
  std::vector<int64_t> sizes = {};     // [trees, 2]: nodes and leaves
  double parent_rows = 1;              // leaf_posterior()
};

/// Return the trees as data, and the trees of this data, which may be untrusted: throws std::invalid_argument
/// for arrays of other sizes and as check_tree().
ForestSpec forest_spec(const std::vector<Tree>& trees, int64_t inputs, int64_t classes, double parent_rows);
std::vector<Tree> trees_of(const ForestSpec& spec);

/// The posterior of the class probabilities in each leaf, a Dirichlet distribution. The numbers are float32
/// because they are most of a forest's memory; their rounding changes a probability by 1e-7 of itself. A mean
/// is at least the smallest normal float32, 1e-38.
struct LeafPosterior {
  std::vector<float> mean;     // [leaves * classes]
  std::vector<float> entropy;  // [leaves] the posterior's expectation of the entropy, in nats
};

/// Returns the posterior of each leaf for a hierarchical prior: the probabilities in a node have a Dirichlet
/// distribution whose mean is that of the node above, and which counts as `parent_rows` > 0 rows. The prior
/// of the root counts as one row of equally probable classes. The mean of the node above is that of its
/// posterior, in which the rows of this node count as well: an approximation that keeps the closed form.
LeafPosterior leaf_posterior(const Tree& tree, int64_t classes, double parent_rows);

}  // namespace slimbayes::engine
