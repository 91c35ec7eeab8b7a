#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "slimbayes/density/unit.h"

namespace slimbayes {

// Scores z_j = a_j f + sqrt(1 - a_j^2) e_j with a common factor f, all normal: their probabilities are
// integrals over f alone. `loading` holds the a_j.

/// Returns their correlation. [k, k]
inline at::Tensor one_factor_correlation(const std::vector<double>& loading) {
  const at::Tensor a = at::tensor(loading, at::kDouble);
  return at::outer(a, a).fill_diagonal_(1);
}

/// Returns P(|z_j| < c for all j) by the trapezoidal rule, whose error is below 1e-12.
inline double one_factor_square(const std::vector<double>& loading, double c) {
  constexpr double kNormal = std::numeric_limits<double>::infinity(), kStep = 0.01;
  double sum = 0;
  for (int i = -900; i <= 900; ++i) {
    const double f = i * kStep;
    double product = kStep * std::exp(-0.5 * f * f) / std::sqrt(2 * std::numbers::pi);
    for (const double a : loading) {
      const double rest = std::sqrt(1 - a * a);
      product *= student_cdf((c - a * f) / rest, kNormal) - student_cdf((-c - a * f) / rest, kNormal);
    }
    sum += product;
  }
  return sum;
}

}  // namespace slimbayes
