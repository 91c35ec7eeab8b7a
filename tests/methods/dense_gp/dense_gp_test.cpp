#include "slimbayes/methods/dense_gp/dense_gp.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

TEST(DenseGp, TheEvidencesGradientEqualsCentralDifferences) {
  at::Tensor z = Stream(1).normal({7, 2}), y = Stream(2).normal(at::IntArrayRef{7});
  at::Tensor theta = dense_start(2, -2) + 0.1 * Stream(3).normal(at::IntArrayRef{5});
  at::Tensor inputs[] = {theta.clone().set_requires_grad(true), z.clone().set_requires_grad(true)};
  dense_evidence_backward(inputs[0], inputs[1], y, 1e-4);
  for (int which : {0, 1}) {
    for (int64_t i = 0; i < inputs[which].numel(); ++i) {
      double value[2];
      for (int side : {0, 1}) {
        at::Tensor moved[] = {theta.clone(), z.clone()};
        moved[which].view(-1)[i] += side == 0 ? -1e-5 : 1e-5;
        for (at::Tensor& each : moved) each.set_requires_grad(true);
        value[side] = dense_evidence_backward(moved[0], moved[1], y, 1e-4);
      }
      EXPECT_NEAR(inputs[which].grad().view(-1)[i].item<double>(), (value[1] - value[0]) / 2e-5, 1e-8)
          << (which == 0 ? "theta " : "z ") << i;
    }
  }
}

// A search may end at a lengthscale far below the spread of a column of two values, or beyond all numbers.
TEST(DenseGp, AKernelOfATinyLengthscaleTellsTheDifferentRowsApart) {
  at::Tensor z = Stream(1).normal({12, 2});
  z.select(1, 0).copy_(3.83 * (at::arange(12) % 2));
  for (double log_lengthscale : {-18.0, -800.0}) {
    at::Tensor hyper = dense_start(2, -2);
    hyper[0] = log_lengthscale;
    at::Tensor kernel = DenseHyper(hyper, 1e-4).kernel(z, z);
    at::Tensor second = z * at::tensor({0.0, 1.0}, at::kDouble);
    at::Tensor other =
        DenseHyper(dense_start(2, -2), 1e-4).kernel(second, second);  // of the second input alone
    for (int64_t i = 0; i < 12; ++i) {
      for (int64_t j = 0; j < 12; ++j) {
        const double expected = i % 2 == j % 2 ? other[i][j].item<double>() : 0;
        EXPECT_NEAR(kernel[i][j].item<double>(), expected, 1e-14) << i << ", " << j;
      }
    }
    at::Tensor y = Stream(2).normal(at::IntArrayRef{12});
    const DensePosterior posterior(hyper, z, y, 1e-4);
    const Regression all = posterior(z);
    for (int64_t i = 0; i < 12; ++i) {
      const Regression alone = posterior(z.narrow(0, i, 1));
      EXPECT_NEAR(alone.mean.item<double>(), all.mean[i].item<double>(), 1e-12);
      EXPECT_NEAR(alone.epistemic_var.item<double>(), all.epistemic_var[i].item<double>(), 1e-12);
    }
    at::Tensor searched = hyper.clone().set_requires_grad(true);
    EXPECT_TRUE(std::isfinite(dense_evidence_backward(searched, z, y, 1e-4)));
    EXPECT_TRUE(at::isfinite(searched.grad()).all().item<bool>()) << searched.grad();
  }
}

}  // namespace
}  // namespace slimbayes
