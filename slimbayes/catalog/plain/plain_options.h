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
