#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// Observed rows of a linear model: y = features w + noise, noise ~ N(0, sigma2 d).
struct LinearRows {
  at::Tensor features;  // [b, r]
  at::Tensor y;         // [b]
  at::Tensor d;         // [b] relative noise variance, > 0; undefined means 1 everywhere
};

/// The sufficient statistics of n rows for the weights of a linear model, in float64 and without sigma2. They
/// are additive: statistics of disjoint rows add up, so they can be computed from mini-batches, shards or
/// several machines. The sums use y - y_shift in place of y; choose y_shift near the mean of y to keep
/// digits.
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

/// Returns the statistics of zero rows. Throws std::invalid_argument unless rank > 0.
LinearStatistics linear_statistics(int64_t rank, double y_shift = 0);

/// Return the statistics with these rows added, or removed (they must have been added before). Rows may have
/// any floating type; they are converted to float64 before the products. Gradients are not tracked. Cost O(b
/// r^2). Both throw std::invalid_argument for shapes that do not fit, for features, y or d that are not
/// finite, and unless every d is > 0; removed() also throws if `rows` holds more rows than `s`. In a loop
/// write `s = added(std::move(s), rows)`: S is then updated in place, not copied (see writable).
LinearStatistics added(LinearStatistics s, const LinearRows& rows);
LinearStatistics removed(LinearStatistics s, const LinearRows& rows);

/// Returns the statistics of the rows of both `a` and `b`, with the shift of `a`. Throws
/// std::invalid_argument if the ranks differ.
LinearStatistics merged(const LinearStatistics& a, const LinearStatistics& b);

/// Returns the statistics as if each row counted `factor` times, for `n` rows in all. Use it to estimate the
/// sums of n rows from a sample of n / factor of them. Throws std::invalid_argument unless factor > 0.
LinearStatistics scaled(const LinearStatistics& s, double factor, int64_t n);

/// Returns the statistics of the same rows for another y_shift. Exact up to rounding.
LinearStatistics shifted(const LinearStatistics& s, double y_shift);

}  // namespace slimbayes
