#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/engine/classes/forest.h"

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

using engine::Tree;

/// Grows an extremely randomised tree (Geurts, Ernst and Wehenkel 2006) on the rows `of`, of which there is
/// at least one. A node splits at the one of `tried` random columns that tells most about the class, each cut
/// at a random place between its least and its largest value. A node is a leaf if its rows have one class or
/// equal inputs.
Tree grown_tree(const ClassRows& rows, std::vector<int32_t> of, int64_t tried, const Stream& stream);

}  // namespace slimbayes
