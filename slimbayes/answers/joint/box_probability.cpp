// The probability of a box under a multivariate normal distribution.
//
// Method      Genz 1992: z = L e with the Cholesky factor L of the correlation and e ~ N(0, I). Given
//             e_1, ..., e_(j-1), the box bounds e_j by an interval. Its probability p_j multiplies the
//             integrand, and e_j is the quantile at a point w_j of the unit interval within it. The integrand
//             p_1 p_2 ... p_k is a smooth function of w_1, ..., w_(k-1) in the unit cube.
// Lattice     Points i (1, a, a^2, ...) / N modulo 1 for i = 0 to N - 1, shifted by half a step, under the
//             baker's transformation w -> 1 - |2 w - 1|, which makes the integrand periodic. The multiplier a
//             of each N was searched for small errors over eight axes.
// Units       All is divided by sqrt(2): with E(x) = erf(x) the cdf is (1 + E) / 2, and the quantile is the
//             inverse of E.
#include "slimbayes/answers/joint/box_probability.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "slimbayes/answers/joint/correlation_factor.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"

namespace slimbayes {

namespace {

constexpr const char* kBox = "box_probability";
constexpr int64_t kLatticeBlock = 12000;  // elements of a tensor of a block of rows, which stay in the cache

/// Returns the points of the lattice, each axis a row. [axes, N]
at::Tensor lattice_points(BoxLattice lattice, int64_t axes) {
  const int64_t n = lattice == BoxLattice::fine ? 65521 : 1543, a = lattice == BoxLattice::fine ? 2466 : 404;
  const at::Tensor index = at::arange(n, at::kLong);
  at::Tensor points = at::empty({axes, n}, at::kDouble);
  for (int64_t axis = 0, g = 1; axis < axes; ++axis, g = g * a % n)
    points[axis].copy_(1 - (2 * ((index * g % n).to(at::kDouble) + 0.5) / n - 1).abs());
  return points;
}

/// Returns the probabilities of a block of boxes, whose bounds [b, k] are divided by sqrt(2) L_jj. `ratio`
/// [k, k] holds L_jl / L_jj. [b]
at::Tensor block_probability(const at::Tensor& lower, const at::Tensor& upper, const at::Tensor& ratio,
                             const at::Tensor& points) {
  // The largest argument whose inverse is finite. A point that it changes has a weight below 1e-16.
  constexpr double kMost = 1 - std::numeric_limits<double>::epsilon() / 2;
  const int64_t k = lower.size(1);
  const auto column = [](const at::Tensor& of, int64_t j) { return of.narrow(1, j, 1); };
  at::Tensor below = column(lower, 0).erf(), between = column(upper, 0).erf() - below;
  if (k == 1) return (0.5 * between).squeeze(1);
  at::Tensor product = (std::ldexp(1.0, -static_cast<int>(k)) * between).expand({-1, points.size(1)}).clone();
  std::vector<at::Tensor> drawn;
  for (int64_t j = 1; j < k; ++j) {
    drawn.push_back(at::addcmul(below, points[j - 1], between).clamp_(-kMost, kMost).erfinv_());
    at::Tensor mean = at::zeros_like(product);
    for (int64_t l = 0; l < j; ++l) mean.add_(drawn[static_cast<size_t>(l)], ratio[j][l].item<double>());
    below = (column(lower, j) - mean).erf_();
    between = (column(upper, j) - mean).erf_().sub_(below);
    product.mul_(between);
  }
  return product.mean(1);
}

void check_box(const at::Tensor& lower, const at::Tensor& upper) {
  check_shape(lower, {-1, -1}, kBox, "lower");
  check_shape(upper, lower.sizes(), kBox, "upper");
  check((lower <= upper).all().item<bool>(), kBox, "lower bounds of at most the upper ones",
        "lower bounds above them, or NaN");
}

}  // namespace

at::Tensor box_probability(const at::Tensor& lower, const at::Tensor& upper, const at::Tensor& correlation,
                           BoxLattice lattice) {
  check_box(lower, upper);
  const int64_t n = lower.size(0), k = lower.size(1);
  const at::Tensor factor = correlation_factor(correlation, k, kBox), own = factor.diagonal();
  const at::Tensor ratio = factor / own.unsqueeze(1), points = lattice_points(lattice, k - 1);
  const at::Tensor from = lower.to(at::kDouble) / (std::numbers::sqrt2 * own),
                   to = upper.to(at::kDouble) / (std::numbers::sqrt2 * own);
  const int64_t block = std::max<int64_t>(1, kLatticeBlock / points.size(1));
  at::Tensor out = at::empty({n}, at::kDouble);
  over_range(n, block, [&](int64_t begin, int64_t end) {
    const int64_t rows = end - begin;
    out.narrow(0, begin, rows)
        .copy_(block_probability(from.narrow(0, begin, rows), to.narrow(0, begin, rows), ratio, points));
  });
  return out;
}

}  // namespace slimbayes
