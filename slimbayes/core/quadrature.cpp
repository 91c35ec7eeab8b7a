// Rules as tensors. The Gauss-Hermite rule itself is in density/hermite; Boost.Math, whose rules cubature.cpp
// uses, has none.
#include "slimbayes/core/quadrature.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/density/hermite.h"

namespace slimbayes {

Quadrature gauss_hermite(int64_t q) {
  const HermiteRule rule = hermite_rule(q);
  return {at::tensor(rule.nodes, at::kDouble), at::tensor(rule.weights, at::kDouble)};
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
