#include "slimbayes/families/dense_gp/dense_gp.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace slimbayes
