#include "slimbayes/method/loss_gradient.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/core/random.h"
#include "slimbayes/method/head.h"

namespace slimbayes {
namespace {

TEST(loss_gradient, IsThatOfAutomaticDifferentiation) {
  const at::Tensor counts = at::tensor({0.0, 3.0, 1.0, 2.0}), labels = at::tensor({0.0, 1.0, 1.0, 0.0});
  struct Case {
    HeadSpec head;
    at::Tensor y;
  };
  for (const auto& [head, y] :
       {Case{{LikelihoodKind::gaussian, 1}, at::tensor({0.3, -1.0, 2.0, 0.0})},
        Case{{LikelihoodKind::poisson, 1}, counts}, Case{{LikelihoodKind::bernoulli, 1}, labels},
        Case{{LikelihoodKind::softmax, 4}, counts}}) {
    const at::Tensor f = Stream(1).normal({4, head.outputs}).set_requires_grad(true);
    const at::Tensor loss = Head{head}.loss(f, y, 0).mean();
    loss.backward();
    const LossGradient found = loss_gradient(head, f, y);
    EXPECT_NEAR(found.loss.value(), loss.item<double>(), 1e-12);
    EXPECT_TRUE(at::allclose(found.gradient, f.grad(), 1e-12, 1e-14)) << name_of(head.likelihood);
  }
}

TEST(LossGradient, AShareOfASumIsItsMean) {
  EXPECT_EQ(share_of_sum(at::full({}, 6.0f), 0.25).value(), 1.5);
  EXPECT_TRUE(share_of_sum(at::empty({}, at::device(at::kMeta)), 0.25).pending().defined());
}

}  // namespace
}  // namespace slimbayes
