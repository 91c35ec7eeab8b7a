// Answers to a target within bounds: the density of its transform, seen through the inverse transform.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/density/unit.h"
#include "tests/core/row.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

constexpr double kOpenEnd = std::numeric_limits<double>::infinity();

/// Returns the inverse of TargetBounds::unbounded.
double inside(const TargetBounds& b, double z) {
  if (b.both()) return b.low + (b.high - b.low) / (1 + std::exp(-z));
  return std::isfinite(b.low) ? b.low + std::exp(z) : b.high - std::exp(-z);
}

Regression gaussian_answer() { return {row({-0.6, 0.1, 1.2}), row({0.3, 0.2, 0.5}), row({0.1, 0.4, 0.05})}; }

const std::vector<TargetBounds>& some_bounds() {
  static const std::vector<TargetBounds> all = {{-1, 3}, {2, kOpenEnd}, {-kOpenEnd, 5}};
  return all;
}

TEST(Bounded, QuantilesAreTransformedQuantiles) {
  const Regression p = gaussian_answer();
  for (const TargetBounds& b : some_bounds()) {
    const Regression q = bounded(p, b);
    EXPECT_EQ(q.least, b.low);
    EXPECT_EQ(q.most, b.high);
    for (const double z : {-3.0, -0.4, 0.0, 1.5}) {
      const at::Tensor plain = quantile(p, z), own = quantile(q, z);
      for (int64_t i = 0; i < 3; ++i) {
        const double y = own[i].item<double>();
        EXPECT_NEAR(y, inside(b, plain[i].item<double>()), 1e-12) << b.in_words();
        EXPECT_NEAR(b.unbounded(y), plain[i].item<double>(), 1e-9) << b.in_words();
      }
      EXPECT_TRUE(at::allclose(normal_score(q, own), at::full({3}, z, at::kDouble), 0, 1e-9));
    }
  }
}

/// The sums of p(y), y p(y) and y^2 p(y) of the first row over a fine grid of the transform.
std::vector<double> integrals(const Regression& q, const TargetBounds& b) {
  constexpr int64_t kNodes = 20001;
  std::vector<double> y;
  for (int64_t i = 0; i < kNodes; ++i)
    y.push_back(inside(b, -9 + 18.0 * static_cast<double>(i) / (kNodes - 1)));
  const at::Tensor at = at::tensor(y, at::kDouble);
  const auto same = [&](const at::Tensor& x) { return x.slice(0, 0, 1).expand({kNodes}).contiguous(); };
  Regression wide{same(q.mean), same(q.aleatoric_var), same(q.epistemic_var), 0, q.density};
  for (DensityComponent& c : wide.density) {
    c.mean = same(c.mean);
    c.aleatoric_var = same(c.aleatoric_var);
    c.epistemic_var = same(c.epistemic_var);
  }
  const at::Tensor density = (-regression_row_nll(wide, at)).exp();
  std::vector<double> out;
  for (int power = 0; power < 3; ++power)
    out.push_back(at::trapezoid(density * at.pow(power), at).item<double>());
  return out;
}

TEST(Bounded, TheDensityHasTheMassOneAndTheMoments) {
  for (const TargetBounds& b : some_bounds()) {
    const Regression q = bounded(gaussian_answer(), b);
    const std::vector<double> sums = integrals(q, b);
    const double mean = q.mean[0].item<double>(), var = total_var(q)[0].item<double>();
    EXPECT_NEAR(sums[0], 1, 1e-5) << b.in_words();
    EXPECT_NEAR(sums[1], mean, 1e-4) << b.in_words();
    EXPECT_NEAR(sums[2] - sums[1] * sums[1], var, 1e-3) << b.in_words();
  }
}

// Var(E[y | f]) is that of an answer whose noise is averaged out: with no noise it is the whole variance.
TEST(Bounded, TheVarianceIsSplitByTheLawOfTotalVariance) {
  for (const TargetBounds& b : some_bounds()) {
    const at::Tensor zero = at::zeros({3}, at::kDouble), var = row({0.3, 0.8, 0.5});
    const Regression noise = bounded({row({-0.6, 0.1, 1.2}), var, zero}, b),
                     function = bounded({row({-0.6, 0.1, 1.2}), zero, var}, b);
    EXPECT_TRUE(at::equal(noise.epistemic_var, zero));
    EXPECT_TRUE(at::equal(function.aleatoric_var, zero));
    EXPECT_TRUE(at::allclose(noise.aleatoric_var, function.epistemic_var, 1e-8, 0));
    const Regression both = bounded({row({-0.6, 0.1, 1.2}), 0.4 * var, 0.6 * var}, b);
    EXPECT_TRUE(at::allclose(total_var(both), noise.aleatoric_var, 1e-7, 0)) << b.in_words();
  }
}

TEST(Bounded, MixturesWithHeavyTailsStayWithinTwoBounds) {
  const TargetBounds b{0, 1};
  Regression p = mixed({{0.7, row({0.2}), row({0.5}), row({0.1}), 3}, {0.3, row({-1}), row({2}), row({1})}});
  p = rescaled(p, 0.4, 1.5);  // the parts have a shift and a scale
  const Regression q = bounded(p, b);
  for (const double z : {-6.0, 0.0, 6.0}) {
    const double y = quantile(q, z).item<double>();
    EXPECT_NEAR(y, inside(b, quantile(p, z).item<double>()), 1e-10);
    EXPECT_TRUE(y >= 0 && y <= 1);
  }
  // The mean of y is the mean of its quantiles; a grid of z would leave out the tails of the Student-t part.
  constexpr int kQuantiles = 4000;
  double sum = 0;
  for (int i = 0; i < kQuantiles; ++i)
    sum += quantile(q, normal_quantile((i + 0.5) / kQuantiles)).item<double>();
  EXPECT_NEAR(sum / kQuantiles, q.mean.item<double>(), 1e-5);
  expect_has(error_of([&] { bounded(p, {0, kOpenEnd}); }), "expected a Gaussian log target");
  expect_has(error_of([&] { bounded(q, b); }), "expected an answer to a target without bounds");
}

TEST(Bounded, CalibratedIntervalsStayWithin) {
  const TargetBounds b{0, 1};
  const Regression q = bounded({row({-30, 0, 30}), row({1, 1, 1}), row({0, 0, 0})}, b);
  const Regression seen =
      bounded({at::zeros({40}, at::kDouble), at::ones({40}, at::kDouble), at::zeros({40}, at::kDouble)}, b);
  const at::Tensor y = at::linspace(1e-3, 1 - 1e-3, 40, at::kDouble);
  std::vector<int64_t> groups;
  for (int64_t i = 0; i < 40; ++i) groups.push_back(i);
  const Interval range = conformal_interval(q, conformal_scores(seen, y, groups), 0.9);
  EXPECT_TRUE((range.lower >= 0).all().item<bool>());
  EXPECT_TRUE((range.upper <= 1).all().item<bool>());
  EXPECT_TRUE((range.upper > range.lower).slice(0, 0, 2).all().item<bool>());
}

}  // namespace
}  // namespace slimbayes
