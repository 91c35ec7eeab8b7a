// The Gauss-Hermite rule by the method of Golub and Welsch (Calculation of Gauss quadrature rules, Math.
// Comp. 1969). The orthonormal Hermite polynomials p_k obey a three-term recurrence; the nodes are the
// eigenvalues of its symmetric tridiagonal matrix. The weight at node x is 1 / sum_k p_k(x)^2, computed by
// the recurrence. The eigenvectors would give the weights too, but with an error relative to the largest
// weight, and for 64 nodes the outermost weights are as small as 1e-49. Cost O(q^3), meant for q of a few
// dozen. Boost.Math, whose rules cubature.cpp uses, has no Gauss-Hermite rule.

#include "slimbayes/core/quadrature.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

Quadrature gauss_hermite(int64_t q) {
  if (!(q >= 1 && q <= 200)) refuse("gauss_hermite", "1 to 200 nodes", std::to_string(q));
  at::Tensor jacobi = at::zeros({q, q}, at::kDouble);
  for (int64_t k = 1; k < q; ++k) {
    jacobi[k][k - 1] = std::sqrt(static_cast<double>(k));
    jacobi[k - 1][k] = jacobi[k][k - 1];
  }
  at::Tensor nodes = at::linalg_eigvalsh(jacobi);
  nodes = (nodes - nodes.flip(0)) / 2;  // makes the nodes exactly symmetric about 0
  at::Tensor before = at::zeros_like(nodes), p = at::ones_like(nodes), sum = at::ones_like(nodes);
  for (int64_t k = 1; k < q; ++k) {  // x p_(k-1) = sqrt(k) p_k + sqrt(k - 1) p_(k-2)
    double a = std::sqrt(static_cast<double>(k)), a_before = std::sqrt(static_cast<double>(k - 1));
    at::Tensor next = (nodes * p - a_before * before) / a;
    before = p;
    p = next;
    sum += p.square();
  }
  at::Tensor weights = 1 / sum;
  return {nodes, weights * (1 / weights.sum())};
}

Quadrature tensor_grid(const Quadrature& rule, int64_t d) {
  int64_t q = rule.nodes.size(0);
  double size = std::pow(static_cast<double>(q), static_cast<double>(d));
  if (!(d >= 1 && size <= 4194304))
    refuse("tensor_grid", "at least one axis and at most 2^22 nodes",
           fmt::format("{} nodes on each of {} axes", q, d), "draw points at random instead");
  at::Tensor nodes = rule.nodes.unsqueeze(1), weights = rule.weights;
  for (int64_t axis = 1; axis < d; ++axis) {
    at::Tensor repeated = nodes.repeat_interleave(q, 0);
    nodes = at::cat({repeated, rule.nodes.repeat({nodes.size(0)}).unsqueeze(1)}, 1);
    weights = at::outer(weights, rule.weights).reshape({-1});
  }
  return {nodes, weights};
}

}  // namespace slimbayes
