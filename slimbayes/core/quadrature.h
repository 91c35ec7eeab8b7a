#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// A quadrature rule: approximates an integral by a weighted sum over nodes. Float64.
struct Quadrature {
  at::Tensor nodes;    // [q], or [q, d] for a grid
  at::Tensor weights;  // [q], > 0
};

/// Returns the Gauss-Hermite rule for E[g(z)], z ~ N(0, 1), with q nodes. The weights sum to 1; the rule is
/// exact for polynomials up to degree 2 q - 1. Throws std::invalid_argument unless 1 <= q <= 200.
Quadrature gauss_hermite(int64_t q);

/// Returns the product of a rule with itself over d axes: nodes [q^d, d], the last axis varying fastest.
/// Throws std::invalid_argument for d < 1 or more than 2^22 nodes.
Quadrature tensor_grid(const Quadrature& rule, int64_t d);

}  // namespace slimbayes
