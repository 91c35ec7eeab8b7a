#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// Observed rows of a linear model: y = features w + noise, noise ~ N(0, sigma2 d).
struct LinearRows {
  at::Tensor features;  // [b, r]
  at::Tensor y;         // [b]
  at::Tensor d;         // [b] relative noise variance, > 0; undefined: 1
};

/// All that n rows say about the weights, in float64 and without sigma2. Additive: statistics of disjoint
/// rows add up, so they come from mini-batches, shards or machines alike. y enters as y - y_shift: pick
/// y_shift near its mean.
struct LinearStatistics {
  at::Tensor S;          // [r, r] Phi^T D^-1 Phi
  at::Tensor c;          // [r] Phi^T D^-1 y
  at::Tensor ones_phi;   // [r] Phi^T D^-1 1
  double yy = 0;         // y^T D^-1 y
  double ones_y = 0;     // 1^T D^-1 y
  double ones_ones = 0;  // 1^T D^-1 1
  double log_det_d = 0;  // log |D|
  int64_t n = 0;
  double y_shift = 0;

  int64_t rank() const { return S.size(0); }
};

/// Statistics of no rows.
LinearStatistics linear_statistics(int64_t rank, double y_shift = 0);

/// With these rows as well, or without them (they must have been added before). Rows may have any floating
/// type; they are converted before the products. Gradients are not followed. Cost O(b r^2). Throws
/// std::invalid_argument for shapes that do not fit, NaN, d <= 0, or more rows removed than there are.
LinearStatistics added(const LinearStatistics& s, const LinearRows& rows);
LinearStatistics removed(const LinearStatistics& s, const LinearRows& rows);

/// Of the rows of both; keeps a's shift.
LinearStatistics merged(const LinearStatistics& a, const LinearStatistics& b);

/// The same rows with y counted from another shift.
LinearStatistics shifted(const LinearStatistics& s, double y_shift);

}  // namespace slimbayes
