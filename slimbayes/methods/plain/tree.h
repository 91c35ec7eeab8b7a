#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// The rows that grow trees of classes, column by column.
struct ClassRows {
  /// x [n, d] float32, y [n] class numbers below `classes`.
  ClassRows(const at::Tensor& x, const at::Tensor& y, int64_t classes);

  int64_t rows = 0, columns = 0, classes = 0;
  std::vector<float> x;         // x[column * rows + row]
  std::vector<int32_t> y;       // [rows]
  std::vector<double> n_log_n;  // [rows + 1] n log n
};

/// A tree of classes. Node 0 is the root. The left child of a node is the next one.
struct Tree {
  struct Node {
    int32_t column;   // of the split; -1: a leaf
    float threshold;  // rows with x <= threshold belong to the left child
    int32_t right;    // the right child; of a leaf its number
  };
  std::vector<Node> nodes;
  std::vector<int32_t> counts;  // [leaves * classes] training rows of each class

  /// Returns the leaf of a row, whose columns lie one after another.
  int32_t leaf_of(const float* row) const;
};

/// Grows an extremely randomised tree (Geurts, Ernst and Wehenkel 2006) on the rows `of`, of which there is
/// at least one. A node splits at the one of `tried` random columns that tells most about the class, each cut
/// at a random place between its least and its largest value. A node is a leaf if its rows have one class or
/// equal inputs.
Tree grown_tree(const ClassRows& rows, std::vector<int32_t> of, int64_t tried, const Stream& stream);

/// The posterior of the class probabilities in each leaf, a Dirichlet distribution.
struct LeafPosterior {
  std::vector<double> mean;     // [leaves * classes]
  std::vector<double> entropy;  // [leaves] the posterior's expectation of the entropy, in nats
};

/// Returns the posterior of each leaf for a hierarchical prior: the probabilities in a node have a Dirichlet
/// distribution whose mean is that of the node above, and which counts as `parent_rows` > 0 rows. The prior
/// of the root counts as one row of equally probable classes. The mean of the node above is that of its
/// posterior, in which the rows of this node count as well: an approximation that keeps the closed form.
LeafPosterior leaf_posterior(const Tree& tree, int64_t classes, double parent_rows);

/// Throws std::invalid_argument unless the tree's nodes form one tree whose leaves are numbered from 0, its
/// columns lie below `columns`, and each leaf has rows. For trees from a file.
void check_tree(const Tree& tree, int64_t columns, int64_t classes);

}  // namespace slimbayes
