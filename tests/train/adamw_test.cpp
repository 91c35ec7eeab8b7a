#include "slimbayes/train/adamw.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace slimbayes {
namespace {

TEST(AdamW, EqualsItsFormula) {
  for (const double beta2 : {0.999, 0.95}) {
    at::Tensor value = at::tensor({1.0, -2.0}, at::kDouble), grad = at::zeros({2}, at::kDouble);
    AdamW optimiser({{"g", value, grad, 0.1, 0.2}}, beta2);
    double w = 1, m = 0, v = 0;
    for (int t = 1; t <= 3; ++t) {
      optimiser.zero_grad();
      grad.add_(value);  // the gradient of value^2 / 2
      double g = w;
      optimiser.step(0.5);
      m = 0.9 * m + 0.1 * g;
      v = beta2 * v + (1 - beta2) * g * g;
      w -= 0.05 * 0.2 * w;
      w -= 0.05 * m / (1 - std::pow(0.9, t)) / (std::sqrt(v / (1 - std::pow(beta2, t))) + 1e-8);
      EXPECT_NEAR(value[0].item<double>(), w, 1e-12);
    }
  }
}

}  // namespace
}  // namespace slimbayes
