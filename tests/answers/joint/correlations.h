#pragma once

#include <ATen/ATen.h>

namespace slimbayes {

/// Returns the correlation matrix of k scores of which each pair has the correlation rho. [k, k]
inline at::Tensor equicorrelated(int64_t k, double rho) {
  return at::full({k, k}, rho, at::kDouble).fill_diagonal_(1);
}

/// Returns the correlation matrix of three scores. [3, 3]
inline at::Tensor three_correlations(double first_second, double first_third, double second_third) {
  const double a = first_second, b = first_third, c = second_third;
  return at::tensor({1.0, a, b, a, 1.0, c, b, c, 1.0}, at::kDouble).view({3, 3});
}

}  // namespace slimbayes
