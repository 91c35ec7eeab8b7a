#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// An integral as a weighted sum over nodes, float64.
struct Quadrature {
  at::Tensor nodes;    // [q], or [q, d] of a grid
  at::Tensor weights;  // [q], > 0
};

/// E[g(z)], z ~ N(0, 1): weights sum to 1; exact for polynomials of degree 2 q - 1 (Gauss-Hermite). Throws
/// std::invalid_argument unless 1 <= q <= 200.
Quadrature gauss_hermite(int64_t q);

/// The product of a rule with itself over d axes: nodes [q^d, d], the last axis fastest. Throws
/// std::invalid_argument beyond 2^22 nodes.
Quadrature tensor_grid(const Quadrature& rule, int64_t d);

}  // namespace slimbayes
