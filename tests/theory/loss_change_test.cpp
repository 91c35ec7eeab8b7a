// Bounds of the change of a loss against random changes of its argument, and cases in which they are
// attained.
#include "slimbayes/theory/loss_change.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

double cross_entropy(const at::Tensor& z, int64_t y) { return (at::logsumexp(z, {0}) - z[y]).item<double>(); }

TEST(LossChange, OfTheAbsoluteErrorIsAttainedOnTheDiagonal) {
  const at::Tensor change = at::full({4}, 0.5, at::kDouble);  // norm 1
  EXPECT_DOUBLE_EQ(loss_change(absolute_slope(4), change.norm().item<double>()),
                   change.abs().sum().item<double>());
  EXPECT_EQ(loss_change(absolute_slope(4), 0), 0);
}

TEST(LossChange, RefusesWhatIsNoNorm) {
  EXPECT_THROW(loss_change(half_square_slope(3), -0.1), std::invalid_argument);
  EXPECT_THROW(loss_change(half_square_slope(3), std::nan("")), std::invalid_argument);
}

TEST(LossChange, OfHalfSquaresIsAttainedAlongTheError) {
  // From z - y = 3 to 3.5 the half square grows from 4.5 to 6.125.
  EXPECT_DOUBLE_EQ(loss_change(half_square_slope(3), 0.5), 6.125 - 4.5);
}

TEST(LossChange, OfCrossEntropyHoldsAtRandomLogits) {
  double closest = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    const Stream stream = Stream(3).split(i);
    const at::Tensor z = 3 * stream.split("z").normal({5});
    const at::Tensor step =
        stream.split("step").normal({5}) * std::pow(10.0, -3 + static_cast<double>(i % 5));
    at::Tensor slope = z.softmax(0);
    slope[0] -= 1;
    const double actual = std::abs(cross_entropy(z + step, 0) - cross_entropy(z, 0));
    const double bound =
        loss_change(cross_entropy_slope(slope.norm().item<double>(), false), step.norm().item<double>());
    EXPECT_LE(actual, bound * (1 + 1e-9) + 1e-12);
    closest = std::max(closest, actual / bound);
  }
  EXPECT_GT(closest, 0.9);  // the bound is not idle
}

TEST(LossChange, OfCrossEntropyApproachesRootTwo) {
  const at::Tensor z = at::tensor({-40.0, 40.0}, at::kDouble), step = at::tensor({-1.0, 1.0}, at::kDouble);
  EXPECT_NEAR(cross_entropy(z + step, 0) - cross_entropy(z, 0),
              loss_change(cross_entropy_slope(std::numbers::sqrt2, false), std::numbers::sqrt2), 1e-9);
}

TEST(LossChange, TheSmoothnessOfSoftmaxIsAHalf) {
  // The Hessian at p = (1/2, 1/2) has the eigenvalue 1/2 along (1, -1) / sqrt(2).
  const double step = 1e-3;
  const at::Tensor along = at::tensor({step / std::numbers::sqrt2, -step / std::numbers::sqrt2}, at::kDouble);
  const at::Tensor zero = at::zeros({2}, at::kDouble);
  const double second = cross_entropy(along, 0) + cross_entropy(-along, 0) - 2 * cross_entropy(zero, 0);
  EXPECT_NEAR(second / (step * step), cross_entropy_slope(0, false).smoothness, 1e-5);
}

TEST(LossChange, OfOneLogitHoldsAtRandomLogits) {
  for (uint64_t i = 0; i < 500; ++i) {
    const double z = 4 * Stream(5).normal(2 * i), step = 2 * Stream(5).normal(2 * i + 1);
    const double actual = std::abs(std::log1p(std::exp(-z - step)) - std::log1p(std::exp(-z)));
    EXPECT_LE(actual, loss_change(cross_entropy_slope(1 / (1 + std::exp(z)), true), std::abs(step)) + 1e-12);
  }
}

}  // namespace
}  // namespace slimbayes
