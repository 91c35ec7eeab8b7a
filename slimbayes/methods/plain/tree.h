#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/engine/classes/forest.h"

namespace slimbayes {

/// The rows that grow trees of classes, column by column.
struct ClassRows {
  /// x [n, d] float32, y [n] class numbers below `classes`. A tree grows on at most max(n, most) of them,
  /// repetitions counted.
  ClassRows(const at::Tensor& x, const at::Tensor& y, int64_t classes, int64_t most = 0);

  int64_t rows = 0, columns = 0, classes = 0;
  std::vector<float> x;         // x[column * rows + row]
  std::vector<int32_t> y;       // [rows]
  std::vector<double> n_log_n;  // n log n for as many rows as a tree may grow on
};

using engine::Tree;

/// Grows an extremely randomised tree (Geurts, Ernst and Wehenkel 2006) on the rows `of`, of which there is
/// at least one. A node splits at the one of `tried` random columns that tells most about the class, each cut
/// at a random place between its least and its largest value. A node is a leaf if its rows have one class or
/// equal inputs.
Tree grown_tree(const ClassRows& rows, std::vector<int32_t> of, int64_t tried, const Stream& stream);

/// Returns how many rows repeated_rows() returns for weights of this sum: the nearest whole number, at least
/// 1 and at most `most`.
int64_t repeated_count(double total, int64_t most);

/// Returns rows for a tree from the rows `of` with weights, weights[i] > 0 that of row i: each is repeated as
/// its weight says. The weights of the rows are scaled to the sum repeated_count(); a row of weight w then
/// comes floor(w) or ceil(w) times, by chance and w times on average (systematic sampling, Madow and Madow
/// 1944, on a random order of the rows). Whole weights of a sum up to `most` give exactly the rows repeated
/// by them.
std::vector<int32_t> repeated_rows(const std::vector<int32_t>& of, const std::vector<double>& weights,
                                   int64_t most, const Stream& stream);

}  // namespace slimbayes
