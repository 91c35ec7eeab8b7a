#pragma once

#include <cstdint>
#include <vector>

namespace slimbayes {

/// A rule of plain numbers: E[g(z)] for z ~ N(0, 1) is about the sum of weight_i g(node_i).
struct HermiteRule {
  std::vector<double> nodes, weights;  // ascending and symmetric about 0; the weights are > 0 and sum to 1
};

/// Returns the Gauss-Hermite rule with q nodes, exact for polynomials of degree at most 2 q - 1. Throws
/// std::invalid_argument unless 1 <= q <= 200.
HermiteRule hermite_rule(int64_t q);

}  // namespace slimbayes
