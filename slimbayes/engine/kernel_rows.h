#pragma once

#include <memory>
#include <vector>

#include "slimbayes/engine/feature_spec.h"
#include "slimbayes/engine/row_model.h"

namespace slimbayes::engine {

/// A dense Gaussian process with the kernel k(x, x') = amplitude exp(-1/2 |u(x) - u(x')|^2), u(x) = phi(x) /
/// lengthscale, of the features phi, given n training rows u_j. With K = k(rows, rows) + diagonal I = L L^T
/// (with `diagonals` in the place of diagonal I):
///   mean                offset + <alpha, k(x)>
///   aleatoric variance  noise_var
///   epistemic variance  amplitude - |L^-1 k(x)|^2 + (1 - <ones, k(x)>)^2 / sum(ones)
struct KernelRows {
  FeatureSpec features = {};
  std::vector<double> lengthscale = {};  // [r]
  std::vector<double> rows = {};         // u [n, r], row after row
  double amplitude = 0, noise_var = 0, offset = 0;
  /// The noise variance and whatever the factorisation needed beside it. 0 for rows of unequal noise, which
  /// have `diagonals`: a reader that does not know these refuses the 0.
  double diagonal = 0;
  std::vector<double> diagonals = {};         // [n] the same of each row; empty: `diagonal` of every row
  std::vector<double> alpha = {}, ones = {};  // [n] K^-1 (y - offset), K^-1 1
};

/// Returns the regression of this process; nullptr where the engine does not know the features, where K is
/// not positive definite to float64, and where the memory at hand is too small. Factorises K: O(n^3), and
/// n^2 numbers of memory. All sums are float64. Distances are sums of squared differences. Throws
/// std::invalid_argument for parts that do not fit each other.
std::shared_ptr<const RowModel> kernel_row_model(const KernelRows& spec);

}  // namespace slimbayes::engine
