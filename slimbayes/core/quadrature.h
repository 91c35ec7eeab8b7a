#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// A quadrature rule: approximates an integral of g by the sum of weight_i g(node_i). Float64.
struct Quadrature {
  at::Tensor nodes;    // [q], or [q, d] for an integral over d axes
  at::Tensor weights;  // [q], > 0
};

/// Returns the Gauss-Hermite rule with q nodes for the expectation E[g(z)], z ~ N(0, 1). The weights sum to
/// 1, and the rule is exact if g is a polynomial of degree at most 2 q - 1. Throws std::invalid_argument
/// unless 1 <= q <= 200.
Quadrature gauss_hermite(int64_t q);

/// Returns the product of a one-dimensional rule with itself over d axes, for integrals over d variables: q^d
/// nodes [q^d, d] with the last axis varying fastest; a weight is the product of d weights. Throws
/// std::invalid_argument if d < 1 or if there are more than 2^22 nodes.
Quadrature tensor_grid(const Quadrature& rule, int64_t d);

}  // namespace slimbayes
