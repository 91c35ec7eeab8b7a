// The exact bound of rows with weights, beside that of repeated rows, and its gradient.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"
#include "slimbayes/objectives/exact_bound.h"

namespace slimbayes {
namespace {

struct WeightedBound {
  at::Tensor phi, correction, y, weight;  // [n, r], [n], [n], [n]

  explicit WeightedBound(int64_t n = 17, int64_t r = 4) {
    const Stream s(31);
    phi = s.split("phi").normal({n, r});
    y = s.split("y").normal({n}) + phi.select(1, 0);
    correction = s.split("c").uniform({n});
    weight = (1 + at::arange(n).remainder(3)).to(at::kDouble);
  }
  /// Which row each copy is of. [sum of the weights]
  at::Tensor copies() const { return at::repeat_interleave(at::arange(y.size(0)), weight.to(at::kLong)); }
  WeightedBound repeated() const {
    WeightedBound out = *this;
    const at::Tensor which = copies();
    for (at::Tensor* each : {&out.phi, &out.correction, &out.y}) *each = each->index_select(0, which);
    out.weight = at::Tensor();
    return out;
  }
  LinearRows rows(int64_t from, int64_t to) const {
    return {phi.slice(0, from, to),
            y.slice(0, from, to),
            {},
            weight.defined() ? weight.slice(0, from, to) : weight};
  }
  /// The bound of all rows, summed in two parts.
  ExactBound bound(double noise, double alpha) const {
    const int64_t n = y.size(0), half = n / 2;
    ExactSums sums = exact_sums(phi.size(1));
    sums = added(sums, rows(0, half), correction.slice(0, 0, half), 0);
    return exact_bound(added(sums, rows(half, n), correction.slice(0, half, n), half), noise, alpha);
  }
  double value(double noise, double alpha) const {
    const ExactBound of = bound(noise, alpha);
    return of.evidence - of.penalty;
  }
};

TEST(WeightedExactBound, OfWholeWeightsIsThatOfRepeatedRows) {
  const WeightedBound own;
  const WeightedBound copies = own.repeated();
  for (const double alpha : {0.0, 0.3}) {
    const ExactBound a = own.bound(0.2, alpha), b = copies.bound(0.2, alpha);
    EXPECT_NEAR(a.evidence, b.evidence, 1e-10 * std::abs(b.evidence));
    EXPECT_NEAR(a.penalty, b.penalty, 1e-10 * std::abs(b.penalty));
    EXPECT_NEAR(a.grad_noise_var, b.grad_noise_var, 1e-9 * std::abs(b.grad_noise_var));
    EXPECT_EQ(a.posterior.statistics.n, b.posterior.statistics.n);
    // The gradient at a row is the sum of those at its copies.
    const int64_t n = own.y.size(0), m = copies.y.size(0);
    const ExactRowGradient g = row_gradient(a, own.rows(0, n), 0), h = row_gradient(b, copies.rows(0, m), 0);
    const at::Tensor of_copies = at::zeros_like(own.phi).index_add(0, own.copies(), h.features);
    EXPECT_TRUE(at::allclose(g.features, of_copies, 1e-9, 1e-10)) << alpha;
    EXPECT_TRUE(at::allclose(g.correction, own.weight * h.correction, 1e-12, 1e-12)) << alpha;
  }
}

TEST(WeightedExactBound, GradientsEqualCentralDifferences) {
  constexpr double kStep = 1e-6, kNoise = 0.2;
  for (const double alpha : {0.0, 0.3}) {
    WeightedBound own(9, 3);
    own.weight = own.weight * 0.37;  // no whole numbers
    const ExactBound bound = own.bound(kNoise, alpha);
    const ExactRowGradient g = row_gradient(bound, own.rows(0, 9), 0);
    const auto difference = [&](const at::Tensor& x, int64_t i) {
      const at::Tensor flat = x.view({-1});
      const double at_x = flat[i].item<double>();
      double value[2];
      for (const int side : {0, 1}) {
        flat[i] = at_x + (side == 0 ? -kStep : kStep);
        value[side] = own.value(kNoise, alpha);
      }
      flat[i] = at_x;
      return (value[1] - value[0]) / (2 * kStep);
    };
    for (int64_t i = 0; i < own.phi.numel(); ++i)
      EXPECT_NEAR(g.features.view({-1})[i].item<double>(), difference(own.phi, i), 1e-6) << i;
    for (int64_t i = 0; i < 9; ++i)
      EXPECT_NEAR(g.correction[i].item<double>(), difference(own.correction, i), 1e-6) << i;
    const double of_noise =
        (own.value(kNoise + kStep, alpha) - own.value(kNoise - kStep, alpha)) / (2 * kStep);
    EXPECT_NEAR(bound.grad_noise_var, of_noise, 1e-5);
  }
}

}  // namespace
}  // namespace slimbayes
