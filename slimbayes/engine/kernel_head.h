#pragma once

#include <memory>
#include <vector>

#include "slimbayes/engine/row_model.h"

namespace slimbayes::engine {

/// A dense Gaussian process with the kernel amplitude exp(-1/2 |u(x) - u_j|^2), u(x) = x / lengthscale, given
/// n training rows u_j:
///   mean                offset + <alpha, k(x)>
///   aleatoric variance  noise_var
///   epistemic variance  amplitude - |root k(x)|^2 + (1 - <ones, k(x)>)^2 / sum(ones)
struct KernelHead {
  int64_t inputs = 0;               // d
  std::vector<double> lengthscale;  // [d]
  std::vector<double> rows;         // u [n, d]
  double amplitude = 0, noise_var = 0, offset = 0;
  std::vector<double> alpha, ones;  // [n]
  std::vector<double> root;         // [n, n] L^-1, lower triangular, row after row; L L^T is the covariance
};

/// Returns the regression of this process. All sums are float64. Distances are sums of squared differences.
std::shared_ptr<const RowModel> kernel_row_model(const KernelHead& head);

}  // namespace slimbayes::engine
