#pragma once

#include <cstdint>
#include <string>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of `ridge`: a Bayesian linear regression on the encoded columns.
struct RidgeOptions {
  double noise_floor = 1e-6;
  int64_t max_columns = 5000;
};

template <class V>
void describe(RidgeOptions& o, V& v) {
  v("noise_floor", o.noise_floor, "least noise variance of the standardised target", Range{1e-12, 1e6},
    "slimbayes");
  v("max_columns", o.max_columns,
    "largest number of encoded columns, of a window those of all its rows: time grows with its cube and "
    "memory with its square",
    Range{1, 1e6}, "slimbayes");
}

/// Options of `logistic`: a Bayesian logistic regression on the encoded columns.
struct LogisticOptions {
  std::string class_weights = "none";
  int64_t max_columns = 5000;
};

template <class V>
void describe(LogisticOptions& o, V& v) {
  v("class_weights", o.class_weights,
    "weight of a row in the likelihood. balanced: every class counts equally, whatever its share; it finds "
    "more rows of a rare class, but the probabilities are those of equally frequent classes",
    Choices{{"none", "balanced"}}, "King and Zeng 2001");
  v("max_columns", o.max_columns,
    "largest number of encoded columns, of a window those of all its rows: time grows with its cube and "
    "memory with its square",
    Range{1, 1e6}, "slimbayes");
}

/// Options of `extra-trees`: a forest of extremely randomised trees with posteriors in the leaves.
struct ExtraTreesOptions {
  int64_t trees = 200;
  std::string split_columns = "auto";
  double parent_rows = 0;
  int64_t tree_rows = 20000;
};

template <class V>
void describe(ExtraTreesOptions& o, V& v) {
  v("trees", o.trees, "trees of the forest: the size of the model and the time of a prediction grow with it",
    Range{1, 1e5}, "Geurts et al. 2006");
  v("split_columns", o.split_columns,
    "encoded columns that a split tries: all, or as many as the square root of their number; auto: what "
    "predicts left-out rows better",
    Choices{{"auto", "all", "root"}}, "Geurts et al. 2006");
  v("parent_rows", o.parent_rows,
    "rows as which the probabilities of the node above count in a node; 0: what predicts left-out rows best",
    Range{0, 1e6}, "slimbayes");
  v("tree_rows", o.tree_rows,
    "most rows that a tree grows on; a larger table gives each tree random ones. Of many classes there are "
    "fewer: rows times classes are at most 100,000, or 100 rows",
    Range{1, 1e9}, "slimbayes");
}

/// Options of `constant`, which predicts the distribution of the training targets for every row.
struct ConstantOptions {
  double pseudo_count = 0.5;
};

template <class V>
void describe(ConstantOptions& o, V& v) {
  v("pseudo_count", o.pseudo_count,
    "classes and counts: examples of each class, or events, that the prior adds to those of the training",
    Range{1e-6, 1e6}, "Jeffreys' prior");
}

}  // namespace slimbayes
