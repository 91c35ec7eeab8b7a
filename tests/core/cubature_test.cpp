#include "slimbayes/core/cubature.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

constexpr Accuracy kFine{1e-6, int64_t{1} << 18};

at::Tensor none(int64_t d) { return at::zeros({0, d}, at::kDouble); }

/// Returns the density of a Gaussian with this mean and sd (mass 1) plus a constant floor.
auto peak(const at::Tensor& middle, double sd, double floor) {
  return [=](const at::Tensor& x) {
    const auto d = static_cast<double>(x.size(1));
    at::Tensor height = at::exp(-0.5 * ((x - middle) / sd).square().sum(1));
    return floor + height / std::pow(sd * std::sqrt(2 * std::numbers::pi), d);
  };
}

TEST(Cubature, SmoothIntegralsMeetTheToleranceAndTheErrorHolds) {
  for (int64_t d : {1, 2, 3}) {
    auto f = [](const at::Tensor& x) { return at::exp(x.sum(1)); };
    Integral got = integral(f, none(d), {1e-9, int64_t{1} << 20});
    const double truth = std::pow(2 * std::sinh(1), static_cast<double>(d));
    EXPECT_LE(got.error, 1e-9 * truth) << d;
    EXPECT_NEAR(got.value, truth, got.error + 1e-13 * truth) << d;
  }
}

TEST(Cubature, AKinkIsFollowed) {
  auto f = [](const at::Tensor& x) { return (x.select(1, 0) - 0.1234).abs(); };
  const double truth = (std::pow(1.1234, 2) + std::pow(0.8766, 2)) / 2;
  EXPECT_NEAR(integral(f, none(1), kFine).value, truth, 1e-6 * truth);
  EXPECT_NEAR(integral(f, none(2), kFine).value, 2 * truth, 2e-6 * truth);
}

// No node of the first rule sees such a narrow peak, so the error estimate misses it without a probe on it.
TEST(Cubature, NoPeakIsMissedThatAProbeLiesOn) {
  for (int64_t d : {1, 2, 3}) {
    const at::Tensor middle = at::tensor({-0.3726, 0.1871, 0.6113}, at::kDouble).narrow(0, 0, d);
    const double sd = d == 1 ? 1e-6 : 1e-3, floor = 0.01;
    const double truth = 1 + floor * std::pow(2.0, static_cast<double>(d));
    auto f = peak(middle, sd, floor);
    at::Tensor probes = middle + sd * Stream(1).normal({50, d});
    Integral got = integral(f, probes, {1e-4, int64_t{1} << 20});
    EXPECT_NEAR(got.value, truth, 1e-4 * truth) << d;
    EXPECT_LE(got.error, 1e-4 * truth) << d;
    EXPECT_NEAR(integral(f, none(d), kFine).value, truth - 1, 1e-3) << d << ": a probe is what finds it";
  }
}

TEST(Cubature, ManyAxesHaveAnHonestStandardError) {
  const at::Tensor middle = at::tensor({-0.3, 0.2, 0.6, -0.5}, at::kDouble);
  auto f = peak(middle, 0.05, 0.01);
  Integral got = integral(f, middle + 0.05 * Stream(2).normal({50, 4}), {1e-3, int64_t{1} << 17});
  EXPECT_GT(got.error, 0);
  EXPECT_LT(got.error, 0.05);
  EXPECT_NEAR(got.value, 1.16, 5 * got.error);
}

TEST(Cubature, TheBudgetHoldsAndTheErrorSaysSo) {
  auto f = peak(at::tensor({0.1, -0.2}, at::kDouble), 1e-3, 1);
  Integral got = integral(f, at::tensor({0.1, -0.2}, at::kDouble).unsqueeze(0), {1e-8, 5000});
  EXPECT_LE(got.nodes, 5000);
  EXPECT_GT(got.error, 1e-8 * got.value);
}

TEST(Cubature, AnInfiniteValueEndsIt) {
  auto f = [](const at::Tensor& x) { return at::where(x.select(1, 0) > 0.5, HUGE_VAL, 1.0); };
  Integral got = integral(f, none(2), kFine);
  EXPECT_FALSE(std::isfinite(got.value));
  EXPECT_EQ(got.error, HUGE_VAL);
  EXPECT_THROW(integral(f, at::zeros({3, 0}), kFine), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
