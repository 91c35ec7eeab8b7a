#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/train/toy.h"

namespace slimbayes {
namespace {

TEST(Train, ClipsTheGradientOfAllGroupsTogether) {
  at::Tensor value = at::zeros({2}, at::kDouble), grad = at::zeros({2}, at::kDouble),
             other = at::zeros({1}, at::kDouble), other_grad = at::zeros({1}, at::kDouble);
  std::vector<double> norms;
  TrainProblem p;
  p.groups = {{"a", value, grad, 0, 0}, {"b", other, other_grad, 0, 0}};
  p.rows = 4;
  p.step = [&](const Batch&, const StepContext& at) {
    grad.copy_(at::tensor({2., 4.}, at::kDouble) * (at.step + 1));  // with the other: norm 6 (step + 1)
    other_grad.fill_(4. * (at.step + 1));
    return 1.0;
  };
  p.after_epoch = [&](const StepContext&) {
    norms.push_back(std::sqrt((grad.square().sum() + other_grad.square().sum()).item<double>()));
    EXPECT_NEAR((grad[1] / other_grad[0]).item<double>(), 1, 1e-12);  // the direction stays
  };
  TrainingOptions options = few_epochs(3);
  options.clip_norm = 9;
  train(p, options, Stream(7), nullptr, {});
  ASSERT_EQ(norms.size(), 3u);
  EXPECT_NEAR(norms[0], 6, 1e-12);
  EXPECT_NEAR(norms[1], 9, 1e-12);
  EXPECT_NEAR(norms[2], 9, 1e-12);
}

}  // namespace
}  // namespace slimbayes
