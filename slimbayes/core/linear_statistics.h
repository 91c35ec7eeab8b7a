#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>

#include "slimbayes/export.h"

namespace slimbayes {

/// Rows with targets for a linear model: y = phi^T w + noise, noise ~ N(0, sigma2 d), where phi are the
/// features of a row. The tensors may be on another device than the CPU: what is summed over the rows is
/// summed on the device of the features.
struct LinearRows {
  at::Tensor features;     // [b, r] one row phi^T each
  at::Tensor y;            // [b]
  at::Tensor d;            // [b] relative noise variance, > 0; undefined means 1 everywhere
  at::Tensor weight = {};  // [b] how many equal rows each row stands for, > 0; undefined means 1 everywhere
};

/// The sufficient statistics of n rows for a linear model: all that a posterior of the weights needs from the
/// rows, in float64 and independent of sigma2. Phi [n, r] are the features, D the diagonal matrix of d, 1 the
/// vector of ones, and y stands for y - y_shift; choose y_shift near the mean of y to keep digits. Every
/// field but y_shift is a sum over rows, so the statistics of different rows can be computed apart (in
/// mini-batches or on several machines) and added. The tensors are on the CPU, wherever the rows are.
struct LinearStatistics {
  at::Tensor S;          // [r, r] Phi^T D^-1 Phi
  at::Tensor c;          // [r] Phi^T D^-1 y
  at::Tensor ones_phi;   // [r] Phi^T D^-1 1
  double yy = 0;         // y^T D^-1 y
  double ones_y = 0;     // 1^T D^-1 y
  double ones_ones = 0;  // 1^T D^-1 1
  double log_det_d = 0;  // log |D|
  double n = 0;          // number of rows: the sum of their weights
  double y_shift = 0;    // what was subtracted from every y

  int64_t rank() const { return S.size(0); }
};

/// Returns by how much two sums of the weights of n rows may differ by rounding. It is less than one row of
/// weight 1, so that whole numbers of rows are told apart.
inline double rounding_of_rows(double n) { return std::min(0.5, 1e-9 * n); }

/// Returns statistics without any rows, to which rows can be added. `rank` is the number of features r.
/// Throws std::invalid_argument unless rank > 0.
SLIMBAYES_EXPORT LinearStatistics linear_statistics(int64_t rank, double y_shift = 0);

/// Return the statistics after these rows have been added, or removed; only rows that were added may be
/// removed. Rows may have any floating type and are converted to float64 first. Without gradients. Cost
/// O(b r^2). Both throw std::invalid_argument if a shape does not fit, if features, y, d or weight are not
/// finite, or if a d or weight is not > 0; removed() also if `rows` holds more rows than `s`. In a loop write
/// `s = added(std::move(s), rows)`: S is then updated in place instead of copied (see writable).
SLIMBAYES_EXPORT LinearStatistics added(LinearStatistics s, const LinearRows& rows);
SLIMBAYES_EXPORT LinearStatistics removed(LinearStatistics s, const LinearRows& rows);

/// Returns the statistics of the rows of `a` and the rows of `b` together, with the y_shift of `a`. Throws
/// std::invalid_argument if the numbers of features differ.
SLIMBAYES_EXPORT LinearStatistics merged(const LinearStatistics& a, const LinearStatistics& b);

/// Returns an estimate of the statistics of n rows from the statistics `s` of a random sample of n / factor
/// of them: multiplies every sum by `factor` and sets the number of rows to `n`. Throws std::invalid_argument
/// unless factor > 0.
SLIMBAYES_EXPORT LinearStatistics scaled(const LinearStatistics& s, double factor, double n);

/// Returns the statistics of the same rows for another y_shift, computed from the sums alone. It is exact up
/// to rounding. Use it to subtract a fitted constant from y.
SLIMBAYES_EXPORT LinearStatistics shifted(const LinearStatistics& s, double y_shift);

}  // namespace slimbayes
